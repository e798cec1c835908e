"""A tool of a third party whose effect can be counted: each time that it is carried out, a line in a file."""

EFFECT = """
    import asyncio
    import os
    from msgspec import Struct
    from footnote.protocol.tools import said
    from footnote.tools.define import tool

    class Effect(Struct):
        name: str

    @tool(titles={"en": "Do it", "vi": "Làm", "zh": "做"})
    async def effect(params: Effect, context):
        "Does something that shows."
        with open(os.environ["EFFECTS"], "a") as file:
            file.write(params.name + "\\n")
        await asyncio.sleep(0.3)  # whoever is killed here has done it, and nobody knows
        return said("done")
"""
