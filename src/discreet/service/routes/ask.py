"""Asking: prices, answers, jobs and certificates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr
from starlette.concurrency import run_in_threadpool

from discreet.curator.curator import Explanation
from discreet.http.bodies import LONGEST_ID
from discreet.privacy.loss import Loss
from discreet.service.auth.bearer import ServiceHere, principal_with
from discreet.service.auth.roles import Principal
from discreet.service.jobs.jobs import LONGEST_QUESTION, AskRequest, Job, State
from discreet.service.jobs.worker import ASKERS
from discreet.service.operations import ask as ask_ops
from discreet.service.operations.formats import Format, choose_format, write_answer
from discreet.service.paging import Limit
from discreet.service.routes.tables import Amount
from discreet.service.state import ServiceState
from discreet.time_limits import ANSWER_WAIT

__all__ = ["router"]


router = APIRouter(tags=["asking"])
_ACCEPTED = 202
_PRICING = CapacityLimiter(2)
"""Threads that plan: more would take the interpreter from each other, and all would be slow instead of some."""
Asker = Annotated[Principal, principal_with(ASKERS)]
Number = StrictStr | StrictInt | StrictFloat
RequestId = Annotated[str, Path(max_length=LONGEST_ID, description="The id of one of your requests.")]
Wait = Annotated[float, Query(ge=0, le=ANSWER_WAIT, description="How many seconds to wait for the answer.")]
Accept = Annotated[str, Header(description="application/json, text/csv or application/vnd.apache.arrow.stream.")]
Intervals = Annotated[bool, Query(description="In CSV: the ends of the error bars beside each value.")]
Sheets = Annotated[bool, Query(description="In CSV: an apostrophe before texts that sheets take for formulas.")]


class ExplainBody(BaseModel):
    """A question, with the price or the error that is wanted for it."""

    model_config = ConfigDict(extra="forbid")

    sql: str = Field(max_length=LONGEST_QUESTION, description="One SELECT.")
    epsilon: Number | None = Field(None, description='The price, exact: 0.1, "0.1" or "1/10".')
    within: Number | None = Field(None, description="Instead of a price: the error that counts and sums may have.")
    part: Number | None = Field(None, description='Instead of both: the part of the budget to pay, such as "1/4".')
    as_of: str | None = Field(None, max_length=40, description="The day that CURRENT_DATE means; or a moment in UTC.")
    confidence: Number = Field(0.95, description="How often error bars cover the truth, at least.")
    raw: bool = Field(
        False, strict=True, description="Whether values are shown as drawn, also where they make no sense."
    )

    def ask_request(self) -> AskRequest:
        """The question, checked."""
        return AskRequest(self.sql, self.epsilon, self.within, self.part, self.as_of, self.confidence, self.raw)


class AskBody(ExplainBody):
    """A question that is to be answered."""

    request: str | None = Field(
        None, max_length=LONGEST_ID, description="An id of one's own: sent again, it serves the same answer for free."
    )


class ErrorFacts(BaseModel):
    """How far a column may be off, known beforehand."""

    column: str = Field(description="The output that shows the aggregate.")
    within: float | None = Field(description="Half the width of its interval; none where it depends on the answer.")


class ShareFacts(BaseModel):
    """A part of a price."""

    part: str = Field(description="What the share answers.")
    price: Amount = Field(description="The share.")


class NoiseFacts(BaseModel):
    """A way in which a part of the budget can be paid."""

    noise: str = Field(description="Laplace or Gaussian.")
    price: Amount = Field(description="What it takes from the budget.")
    affordable: bool = Field(description="Whether it fits what is left, or is free.")
    errors: list[ErrorFacts] = Field(description="The expected error of each aggregate.")


class ExplanationFacts(BaseModel):
    """What a question would cost and how good its answer would be."""

    price: Amount | None = Field(description="The price of the whole question; none for public tables alone.")
    epsilon: str | None = Field(description="The ε that was named, or the least one for the wanted error.")
    affordable: bool = Field(description="Whether it fits what is left, or is free.")
    asked_before: bool = Field(description="Whether the same was asked before about the same data, and is free now.")
    groups: int | None = Field(description="How many rows there are before HAVING and LIMIT, where that is public.")
    errors: list[ErrorFacts] = Field(description="The expected error of each aggregate.")
    shares: list[ShareFacts] = Field(description="How the price is divided so that the errors together are least.")
    notes: list[str] = Field(description="What will be clamped, weighted or left out.")
    accounts: list[str] = Field(description="The accounts of the ledger that would pay.")
    as_of: str | None = Field(description="The end of the last closed period, where CURRENT_DATE means that.")
    options: list[NoiseFacts] = Field(description="Where a part of the budget is named, how it can be paid.")

    @classmethod
    def of(cls, found: Explanation) -> ExplanationFacts:
        """An explanation as plain data."""
        return cls(
            price=_amount(found.price),
            epsilon=None if found.epsilon is None else str(found.epsilon),
            affordable=found.affordable,
            asked_before=found.is_known,
            groups=found.groups,
            errors=[ErrorFacts(column=one.column, within=one.within) for one in found.errors],
            shares=[ShareFacts(part=part, price=Amount.price(price)) for part, price in found.shares],
            notes=list(found.notes),
            accounts=list(found.accounts),
            as_of=found.as_of,
            options=[
                NoiseFacts(
                    noise=one.noise,
                    price=Amount.price(one.price),
                    affordable=one.affordable,
                    errors=[ErrorFacts(column=each.column, within=each.within) for each in one.errors],
                )
                for one in found.options
            ],
        )


class JobFacts(BaseModel):
    """How far a request is: nothing here depends on rows."""

    request: str = Field(description="Its id.")
    sql: str = Field(description="The question.")
    state: State = Field(description="accepted: waiting or being answered; answered; refused: it may be sent again.")
    price: Amount | None = Field(description="What it costs; none for public tables alone.")
    made: str = Field(description="When it came, in universal time.")
    settled: str | None = Field(description="When it was answered or refused.")
    elapsed: float = Field(description="Seconds since it came, until it was settled.")
    problem: dict[str, Any] | None = Field(description="Why it was refused, in the shape of problems.")

    @classmethod
    def of(cls, job: Job, now: float) -> JobFacts:
        """A request as plain data."""
        return cls(
            request=job.request,
            sql=job.sql,
            state=job.state,
            price=_amount(job.price),
            made=_moment(job.made),
            settled=None if job.settled is None else _moment(job.settled),
            elapsed=max(0.0, (now if job.settled is None else job.settled) - job.made),
            problem=job.problem,
        )


_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer.",
        "content": {
            Format.JSON: {"schema": {"type": "object"}},
            Format.CSV: {"schema": {"type": "string"}},
            Format.ARROW: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}
_LATER: dict[int | str, dict[str, Any]] = {202: {"description": "It is being answered.", "model": JobFacts}}


_SUMMARY = "What a question would cost, and how good its answer would be"


@router.post("/explain", summary=_SUMMARY, response_model=ExplanationFacts)
async def explain(service: ServiceHere, principal: Asker, question: ExplainBody) -> Response:
    """Reads no rows and costs nothing."""
    body = await to_thread.run_sync(_explain, service, principal, question, limiter=_PRICING)
    return Response(body, 200, None, Format.JSON.value)


@router.post("/ask", summary="A private answer", response_class=Response, responses=_ANSWER | _LATER)
async def ask(
    request: Request,
    service: ServiceHere,
    principal: Asker,
    question: AskBody,
    wait: Wait = 30.0,
    accept: Accept = "*/*",
    prefer: Annotated[str, Header(description="respond-async: do not wait.")] = "",
    intervals: Intervals = False,
    sheets: Sheets = False,
) -> Response:
    """Charged once for each request id. An answer that takes longer than ``wait`` is fetched from its job."""
    form = choose_format(accept)
    is_async = "respond-async" in (part.strip().lower() for part in prefer.split(","))
    job = await run_in_threadpool(ask_ops.start, service, principal, question.ask_request(), question.request)
    job = await ask_ops.wait_finished(service, principal, job.request, 0.0 if is_async else wait)
    if job.is_unfinished:
        applied = {"Preference-Applied": "respond-async"} if is_async else {}
        return _job(request, job, service.requests.clock(), _ACCEPTED, applied)
    kept = await run_in_threadpool(ask_ops.answer, service, principal, job.request)
    return await run_in_threadpool(_answer, request, kept, form, intervals, sheets)


@router.get("/jobs/{request_id}", summary="How far a request is", response_model=JobFacts)
async def job(
    request: Request, service: ServiceHere, principal: Asker, request_id: RequestId, wait: Wait = 0.0
) -> Response:
    """Accepted, answered or refused; of others' requests there are none."""
    found = await ask_ops.wait_finished(service, principal, request_id, wait)
    return _job(request, found, service.requests.clock(), 200, {})


@router.get("/answers", summary="What I asked, newest first")
def answers(
    service: ServiceHere,
    principal: Asker,
    limit: Limit = 50,
    before: Annotated[str | None, Query(max_length=LONGEST_ID, description="The last id that was seen.")] = None,
) -> list[JobFacts]:
    """The principal's own requests."""
    now = service.requests.clock()
    return [JobFacts.of(one, now) for one in ask_ops.answers(service, principal, limit, before)]


@router.get("/answers/{request_id}", summary="An answer again", response_class=Response, responses=_ANSWER)
def answer(
    request: Request,
    service: ServiceHere,
    principal: Asker,
    request_id: RequestId,
    accept: Accept = "*/*",
    intervals: Intervals = False,
    sheets: Sheets = False,
) -> Response:
    """As it was first given, for free."""
    form = choose_format(accept)
    return _answer(request, ask_ops.answer(service, principal, request_id), form, intervals, sheets)


@router.get("/answers/{request_id}/certificate", summary="The certificate of an answer")
def certificate(service: ServiceHere, principal: Asker, request_id: RequestId) -> dict[str, Any]:
    """Question, plan, loss and place in the ledger, signed."""
    return ask_ops.certificate(service, principal, request_id)


def _explain(service: ServiceState, principal: Principal, question: ExplainBody) -> str:
    return ExplanationFacts.of(ask_ops.explain(service, principal, question.ask_request())).model_dump_json()


def _answer(request: Request, kept: ask_ops.StoredAnswer, form: Format, intervals: bool, sheets: bool) -> Response:
    here = request.url_for("answer", request_id=kept.job.request).path
    paper = request.url_for("certificate", request_id=kept.job.request).path
    headers = {"Content-Location": here, "Link": f'<{paper}>; rel="describedby"', "Vary": "Accept"}
    return Response(write_answer(kept, form, paper, intervals=intervals, sheets=sheets), 200, headers, form.value)


def _job(request: Request, job: Job, now: float, status: int, more: dict[str, str]) -> Response:
    where = {"Location": request.url_for("job", request_id=job.request).path} if status == _ACCEPTED else {}
    body = JobFacts.of(job, now).model_dump_json()
    headers = {**where, **({"Retry-After": "1"} if job.is_unfinished else {}), **more}
    return Response(body, status, headers, Format.JSON.value)


def _amount(price: Loss | None) -> Amount | None:
    return None if price is None else Amount.price(price)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
