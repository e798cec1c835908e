"""Accessibility violations that axe-core finds on a page."""

from functools import cache
from typing import Any

from playwright.async_api import Page

from shape.tree import ROOT

TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


@cache
def _source() -> str:
    return (ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


# Colours during a transition are not those of the design, so finite animations are awaited; infinite ones are not.
SETTLED = """async () => {
  const ending = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity);
  await Promise.allSettled(ending.map((one) => one.finished));
}"""


async def accessibility_violations(page: Page) -> list[str]:
    """One line for each violation: the rule, and the element that breaks it."""
    # A script element would be blocked by the Content-Security-Policy of the page.
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
