"""Images of Durable Object-managed containers are prepared by Cloudflare before a Worker may name them."""

import time
from typing import Final

from ..errors import ApiError, ProviderError
from ..resource import Run

_KEPT: Final = "the Worker and its applications stay as they were, with the images they run"
_NOT_MADE: Final = "no Worker was uploaded, so nothing runs it"


def prepare_images(run: Run, account_id: str, images: list[str], until: float, *, first: bool) -> None:
    """Have images prepared and wait until they are ready; what fails says what that means for the Worker."""
    path = f"/accounts/{account_id}/containers/image-preparations"
    meaning = _NOT_MADE if first else _KEPT
    for image in images:
        while True:
            try:
                found = run.client.call("POST", path, body={"image": image}).result
            except ApiError as error:
                raise ProviderError(f"{error}; image {image} could not be prepared: {meaning}") from None
            if found["status"] == "ready":
                break
            if found["status"] == "error":
                why = found.get("reason", "no reason was given")
                raise ProviderError(
                    f"image {image} could not be prepared: {why}; {meaning}. Fix the image and run `pulumi up` again"
                )
            if time.monotonic() > until:
                raise ProviderError(
                    f"image {image} is still not prepared: {meaning}. Run `pulumi up` again to go on waiting"
                )
            run.status(f"waiting until {image.rpartition('/')[2]} is prepared")
            run.client.pause(run.client.waits.poll)
