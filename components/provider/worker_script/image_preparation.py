"""Images of Durable Object-managed containers are prepared by Cloudflare before a Worker may name them."""

import time

from ..errors import ProviderError
from ..resource import Run


def prepare_images(run: Run, account_id: str, images: list[str], until: float) -> None:
    """Have images prepared and wait until they are ready."""
    path = f"/accounts/{account_id}/containers/image-preparations"
    for image in images:
        while True:
            found = run.client.call("POST", path, body={"image": image}).result
            if found["status"] == "ready":
                break
            if found["status"] == "error":
                raise ProviderError(
                    f"image {image} could not be prepared: {found.get('reason', 'no reason was given')}; "
                    "the Worker stays as it was"
                )
            if time.monotonic() > until:
                raise ProviderError(
                    f"image {image} is still not prepared, and the Worker stays as it was; "
                    "run `pulumi up` again to go on waiting"
                )
            run.status(f"waiting until {image.rpartition('/')[2]} is prepared")
            run.client.pause(run.client.waits.poll)
