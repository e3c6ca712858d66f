"""Talk to an agent that has a sandbox: the conversation keeps its files and what was said."""

from sandbox_api import ApiError, call, run

CONVERSATION = "/v1/conversations/example"
QUESTIONS = ["Write the numbers from 1 to 10 to a file and add them up.", "How many numbers were that?"]


def main() -> None:
    try:
        for question in QUESTIONS:
            said = call("POST", f"{CONVERSATION}/messages", {"message": question, "max_commands": 3})
            print(f"you:   {question}\nagent: {said['answer']} ({said['commands']} command)")
        kept = call("GET", CONVERSATION)["messages"]
        print(f"{len(kept)} messages are kept")
    finally:
        call("DELETE", CONVERSATION)
    try:
        call("GET", CONVERSATION)
    except ApiError as error:
        print(f"afterwards: {error.code}")


if __name__ == "__main__":
    run(main)
