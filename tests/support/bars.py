"""The buttons of a chart's bar, as a browser has them."""

import asyncio
from pathlib import Path

from support.browser import browser

# Plotly uploads a chart by another one, which is shown unless it is left out.
BAR = ["Download plot", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"]


def buttons_of(page: Path, when: str) -> list[str]:
    """Return the titles of all buttons of a page's bars, once a script is true. Skips if no browser is installed."""

    async def found() -> list[str]:
        async with browser(page.as_uri()) as opened:
            await opened.until(f"!!{when}")
            titles = await opened.value(
                "[...document.querySelectorAll('.modebar-btn')].map((button) => button.dataset.title)"
            )
            assert opened.troubles == []
            return [str(title) for title in titles]

    return asyncio.run(found())
