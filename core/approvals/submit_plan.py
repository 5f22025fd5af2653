"""`submit_plan`: an agent hands in a plan and waits for a person (seed 000, agent.md 2.6)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.approvals.plan import parse_plan, read_plan_file
from core.errors import InvalidInput
from core.tools.function import tool
from core.tools.tool import ToolContext

APPROVED = "Plan approved. Proceed with implementation following the approved plan."


class PlanDecision(BaseModel):
    """The resume data of a plan: what was decided, and the plan echoed for the history."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["approved", "rejected"]
    feedback: str | None = None
    path: str | None = None
    title: str | None = None
    plan: str | None = None


RESUME_SCHEMA: dict[str, Any] = PlanDecision.model_json_schema()


def read_decision(data: Any) -> PlanDecision:
    """Read resume data for a plan.

    Raises:
        InvalidInput: names each field that is wrong; the pause is kept (agent.md 4.7).
    """
    try:
        return PlanDecision.model_validate(data)
    except ValidationError as exc:
        fields = {".".join(map(str, item["loc"])) or "data": item["msg"] for item in exc.errors()}
        listed = "; ".join(f"{name}: {text}" for name, text in fields.items())
        raise InvalidInput(
            f"the answer to a plan is not complete: {listed}", fields=fields
        ) from exc


def _content_only(result: Any) -> Any:
    return result["content"] if isinstance(result, dict) and "content" in result else result


@tool(idempotent=True, to_model=_content_only)
async def submit_plan(
    path: Annotated[str, Field(description="Path of the Markdown file that holds the plan")],
    context: ToolContext,
) -> Any:
    """Submit a plan for review: write it first, then pass its path.

    The call waits until a person approves or rejects the plan.
    """
    if context.resumed:
        return _outcome(path, read_decision(context.resume_data))
    if not context.can_suspend:
        return _result(
            f"The plan is in {path}. Nobody can approve it here: there is no run to pause."
        )
    content = await _find(path, context)
    plan = None if content is None else parse_plan(path, content)
    payload = {"path": path}
    if plan is not None:
        payload |= {"title": plan.title, "plan": plan.body}
    await context.suspend(payload, kind="plan", details=plan, resume_schema=RESUME_SCHEMA)
    return None


async def _find(path: str, context: ToolContext) -> str | None:
    # The stored text wins over the file, which may have changed since it was written.
    if context.library is not None:
        stored = await context.library.read(path)
        if stored is not None:
            return stored
    return await read_plan_file(path, context.folders)


def _outcome(path: str, decision: PlanDecision) -> dict[str, Any]:
    # Kept beside the sentence for whoever reads the history; the model reads the sentence alone.
    submitted = {
        "title": decision.title,
        "path": decision.path or path,
        "plan": decision.plan,
    }
    return _result(_sentence(decision)) | {
        "submittedPlan": submitted,
        "feedback": decision.feedback,
    }


def _sentence(decision: PlanDecision) -> str:
    if decision.action == "approved":
        return APPROVED
    if decision.feedback and decision.feedback.strip():
        return (
            "The plan was not approved. The reviewer asks for this:\n\n"
            f"{decision.feedback}\n\n"
            "Revise the plan accordingly, then submit it again with submit_plan."
        )
    return (
        "The plan was not approved. Stop here and wait for the user's next message before you "
        "revise it."
    )


def _result(content: str) -> dict[str, Any]:
    return {"content": content, "isError": False}
