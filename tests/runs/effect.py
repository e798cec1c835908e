"""A plugin tool whose effect can be counted: each execution appends a line to a file."""

EFFECT = """
    import asyncio
    import os
    from msgspec import Struct
    from footnote.protocol.tools import text_result
    from footnote.tools.define import tool

    class Effect(Struct):
        name: str

    @tool(titles={"en": "Do it", "vi": "Làm", "zh": "做"})
    async def effect(params: Effect, context):
        "Does something that shows."
        with open(os.environ["EFFECTS"], "a") as file:
            file.write(params.name + "\\n")
        await asyncio.sleep(0.3)  # a process killed here has done it, and no result is stored
        return text_result("done")
"""
