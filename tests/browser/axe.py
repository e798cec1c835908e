"""What axe-core finds wrong with what is on the screen."""

from functools import cache
from typing import Any

from playwright.async_api import Page

from shape.tree import ROOT

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@cache
def _source() -> str:
    return (ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


# What fades in has, on the way, colours that are nobody's: it is waited for. What never ends is looked at as it goes.
SETTLED = """async () => {
  const ending = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(ending.map((one) => one.finished));
}"""


async def accessibility_violations(page: Page) -> list[str]:
    """Each fault as a line: the rule, and where it is broken."""
    # Not as a script element, which the page's policy would refuse.
    await page.evaluate(_source())
    await page.evaluate(SETTLED)
    found: dict[str, Any] = await page.evaluate(
        "(tags) => axe.run({ runOnly: { type: 'tag', values: tags } })", list(TAGS)
    )
    return [
        f"{fault['id']} ({fault['impact']}): {node['target']} {node['html'][:200]} {node['failureSummary'][:300]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]
