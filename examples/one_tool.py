"""An agent with one tool, without any chat platform: `python examples/one_tool.py`."""

import asyncio

from core import Agent, tool
from core.testing import Say, ScriptedModel

PRICES = {"apple": 30, "pear": 45}


@tool
async def price_of(fruit: str) -> int:
    """Look up the price of a fruit, in cents."""
    return PRICES[fruit]


async def main() -> None:
    # With a real provider this line is `model="openai/gpt-5-mini"`, see docs/quickstart.
    model = ScriptedModel(
        [
            Say(calls=(("price_of", {"fruit": "pear"}),)),
            Say(text="A pear costs 45 cents."),
        ]
    )
    clerk = Agent(name="Clerk", instructions="Tell prices.", model=model, tools=[price_of])
    result = await clerk.generate("What is a pear?")
    for call in result.tool_results:
        print(f"{call['toolName']}({call['args']['fruit']}) -> {call['result']}")
    print(result.text)


if __name__ == "__main__":
    asyncio.run(main())
