"""Ask the Worker of this example whether programs can be parsed."""

from sandbox_api import ApiError, call, run


def main() -> None:
    for program in ("console.log(6 * 7)", "console.log(6 * )"):
        print(program, "->", call("POST", "/check", {"program": program}))
    try:
        call("POST", "/check", {"source": "a field that it does not know"})
    except ApiError as error:
        print(error)


if __name__ == "__main__":
    run(main)
