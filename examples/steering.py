"""Two people in one thread: the second steers the agent while it works."""

import asyncio

from core import Agent, Runtime, tool
from core.testing import Say, ScriptedModel

THREAD = {"resource_id": "team", "thread_id": "paint-job"}
painting, second_thoughts = asyncio.Event(), asyncio.Event()


@tool
async def paint(color: str) -> str:
    """Paint the wall."""
    painting.set()
    await second_thoughts.wait()
    return f"the first coat of {color} is on"


async def main() -> None:
    model = ScriptedModel(
        [
            Say(calls=(("paint", {"color": "blue"}),)),
            Say(text="Ben, Ada: I stopped after one coat and take red now."),
        ]
    )
    painter = Agent(name="Painter", model=model, tools=[paint])
    async with Runtime(agents=[painter]) as runtime:
        first = painter.send_message(
            {"contents": "Paint the wall blue, please.", "attributes": {"name": "Ada"}}, **THREAD
        )
        await painting.wait()
        second = painter.send_message(
            {"contents": "Not blue! Red!", "attributes": {"name": "Ben"}}, **THREAD
        )
        print(f"Ada's message: {(await first.accepted).action}")
        print(f"Ben's message: {(await second.accepted).action}")
        second_thoughts.set()
        await runtime.idle()
    print(model.prompts()[1])
    output = (await first.accepted).output
    if output is not None:
        print((await output.consume_stream()).text)


if __name__ == "__main__":
    asyncio.run(main())
