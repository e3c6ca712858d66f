"""`make docs`: bring the generated parts of the documentation, and the template, up to date."""

from docs.generators import pages
from testbed import loopback


def main() -> None:
    """Write every page with generated parts."""
    for path, text in pages.wanted().items():
        path.write_text(text)


if __name__ == "__main__":
    loopback.enforce()
    main()
