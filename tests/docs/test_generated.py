from docs.generators import pages as generated_docs


def test_the_documentation_says_what_the_code_does():
    stale = [path.name for path, text in generated_docs.wanted().items() if path.read_text() != text]
    assert stale == [], "run `make docs`"
