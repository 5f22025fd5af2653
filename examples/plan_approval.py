"""A plan is submitted, sent back with a reason, revised and approved."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from core import Agent, Runtime, RuntimeOptions, submit_plan
from core.testing import Say, ScriptedModel
from core.tools.tool import Folders

PLAN = "# Dark mode\n\n1. Add a switch.\n"


def writes_and_submits(content: str) -> list[Say]:
    return [
        Say(calls=(("write_plan", {"path": "dark.md", "content": content}),)),
        Say(calls=(("submit_plan", {"path": "dark.md"}),)),
    ]


async def main(folder: Path) -> None:
    script = [
        *writes_and_submits(PLAN),
        *writes_and_submits(f"{PLAN}2. Handle errors.\n"),
        Say(text="Done: the switch is there, and errors are handled."),
    ]
    planner = Agent(
        name="Planner",
        instructions="Write a plan, submit it, and build it once it is approved.",
        model=ScriptedModel(script),
        tools=["write_plan", submit_plan],
    )
    async with Runtime(agents=[planner], options=RuntimeOptions(folders=Folders(root=folder))):
        answers = [
            {"action": "rejected", "feedback": "Add error handling steps"},
            {"action": "approved"},
        ]
        stream = await planner.stream("Build a dark mode")
        for answer in answers:
            async for chunk in stream.full_stream:
                if chunk.type == "tool-call-suspended":
                    print(chunk.payload["suspendPayload"]["plan"])
            print(f"-> {answer['action']}")
            stream = await planner.resume_stream(answer, run_id=stream.run_id)
        async for text in stream.text_stream:
            print(text)


if __name__ == "__main__":
    with TemporaryDirectory() as temporary:
        asyncio.run(main(Path(temporary)))
