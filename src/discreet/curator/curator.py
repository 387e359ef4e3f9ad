"""The curator: holds tables, answers questions about the crowd, and never lets a budget be passed.

The steps of a question: policy, price, charge, run, receipt. It is planned without looking; its charge is durable
before a row is read; its noisy values are durable before anyone sees them; asked again, they are served for free.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from discreet.catalog.budget import Budget, BudgetStated
from discreet.catalog.catalog import Catalog
from discreet.catalog.period import Period
from discreet.catalog.policy.csv_format import CSVFormat
from discreet.catalog.policy.read import UnreadColumn, unread_words
from discreet.catalog.table import Table
from discreet.curator.advice.bounds import SuggestedBounds, suggest_bounds
from discreet.curator.advice.histogram import Offers
from discreet.curator.advice.rows_per_unit import (
    LeftOut,
    SuggestedRows,
    Touched,
    left_out,
    suggest_rows_per_unit,
    touched,
)
from discreet.curator.answering import AnsweringCurator, answer_publicly
from discreet.curator.answers.answer import Answer
from discreet.curator.answers.formats import catalog_html
from discreet.curator.balances import Balances, find_tree
from discreet.curator.charge import check_analyst
from discreet.curator.duplicate_tables import describe_duplicates
from discreet.curator.explanation import Explanation
from discreet.curator.ledger.ledger import Ledger, has_ledger
from discreet.curator.ledger.open import OpenedLedger
from discreet.curator.ledger.remaining import LastPrices, compute_balance, sum_people
from discreet.curator.notes import write_notes
from discreet.curator.people import (
    check_people,
    check_whose,
    join_people,
    lower_people,
    open_accounts,
    state_granted,
)
from discreet.curator.periods import (
    PeriodState,
    check_lifetime,
    check_roots,
    close_due,
    close_through,
    find_growing,
    finish_closes,
    list_periods,
    open_growing,
)
from discreet.curator.planner import Planner
from discreet.curator.policies import (
    BudgetPerStated,
    CapsStated,
    ColumnStated,
    KeyStated,
    Policies,
    TimeStated,
    UnitStated,
    allow,
    check_length,
    disallow,
    read_analysts,
    read_stated_policy,
)
from discreet.curator.preconditions import (
    check_accounts,
    check_granted,
    check_promise,
    check_spelling,
    check_unit,
)
from discreet.curator.prepare import AskedQuestion
from discreet.curator.publications import PublicationRecord, publications_in, record_publication
from discreet.curator.question_terms import QuestionTerms, choose
from discreet.curator.rehearsal.store import NOTE, SyntheticStore
from discreet.curator.rehearsal.synthetic_rows import MadeUpRows
from discreet.curator.series.explanation import SeriesExplanation
from discreet.curator.series.records import list_series
from discreet.curator.series.series import StandingSeries, may_read
from discreet.curator.series.steps import step_all
from discreet.curator.series.subscribe import WantedSeries, begin, explain_series
from discreet.curator.suspensions import Suspension, lift, suspensions_in
from discreet.engines.duckdb.growing import Appended
from discreet.engines.engine import TableStore, Unread
from discreet.engines.open import open_engine
from discreet.errors import DiscreetError, InvalidType, InvalidValue, LedgerError, StoreError
from discreet.exact.rational import Number
from discreet.noise.law import open_probability
from discreet.noise.source import SYSTEM, Source, fresh_id
from discreet.privacy.neighbours import Neighbours
from discreet.query.answer.answer import compute_answer
from discreet.query.divide import join_measured
from discreet.query.parse.clock import AsOf, AsOfStated
from discreet.query.question import PlannedQuestion
from discreet.query.run.measure import measure

__all__ = ["Curator", "Explanation"]


class Curator(AnsweringCurator):
    """Tables, policies, a ledger and an engine behind one interface. Any number of threads may use one at once."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        engine: TableStore | None = None,
        rows: str | None = None,
        source: Source = SYSTEM,
        shared_answers: bool = True,
        offers: Offers = Offers.PYTHON,
    ) -> None:
        """Open the curator in ``folder``, or start one there; a ledger that cannot be believed is not opened.

        Rows are in the folder, unless ``rows`` names the server that holds them: ``postgresql://USER@HOST/DATABASE``,
        ``sc://HOST:PORT`` for Spark Connect, or ``spark``. That is said once; the folder remembers it.

        With ``shared_answers`` a question that any analyst asked before is free for all. Without, each analyst pays
        for their own and gets noise of their own, request ids are each analyst's own, and no answer, price, charge or
        refusal tells whether another asked the same. What remains is what all of them share: the balance of the table
        moves, and by how much one's own question moves it depends on the people whom others asked about; records
        have running numbers, so that one sees that something was recorded in between; and a text that was planned
        before, by anybody, is planned a little faster.

        ``offers`` says how notes name the paid questions that help to write a policy; a service has none of these.
        """
        if not source.trusted:
            raise InvalidValue("a curator draws from the operating system alone", type(source).__name__)
        self.folder = Path(folder)
        self.shared_answers = shared_answers
        self.offers = offers
        self._policies = Policies(self.folder)
        self._rereading = Lock()
        self._stamp = self._policies.stamp()  # before the files are read: what changes meanwhile is read again
        self.catalog = self._policies.read()
        self.engine = engine if engine is not None else open_engine(self.folder, rows)
        self._source = source
        self.opened = self._opened_ledger()
        self.ledger = self.opened.ledger
        self.engine.store.in_use = self.ledger.open_versions
        self._last_prices = LastPrices(self.ledger)
        self.is_pinned = False
        """Whether it plans with a catalog of its own, whatever becomes of the policies."""
        self._known_planner: Planner | None = None
        step_all(self)

    def _opened_ledger(self) -> OpenedLedger:
        if not has_ledger(self.folder):
            if any(not table.public for table in self.catalog):
                rule = "protected tables must have the ledger of what was spent on them"
                raise LedgerError(rule, "<no ledger>", "put it back; a new one would grant every budget again")
            return OpenedLedger(Ledger.create(self.folder))
        ledger = Ledger(self.folder)  # says itself why it cannot be opened
        try:
            opened_ledger = OpenedLedger(ledger)
        except DiscreetError:
            ledger.close()
            raise
        accounts = ledger.accounts()
        for table in self.catalog:
            check_spelling(table, accounts)
            check_accounts(table, accounts)
            check_whose(table, self.catalog, accounts)
        join_people(ledger, self.catalog)
        finish_closes(ledger, self.engine, self.catalog)
        check_roots(ledger, self.engine, self.catalog)
        return opened_ledger

    @property
    def source(self) -> Source:
        """Where all noise is drawn from."""
        return self._source

    # The owner's part.

    def protect(
        self,
        source: Any,
        policy: Table | str | os.PathLike[str] | None = None,
        progress: Callable[[float], None] | None = None,
        *,
        unread: Unread | None = None,
        appended: Callable[[Appended], None] | None = None,
        table: str | None = None,
        unit: UnitStated | None = None,
        time: TimeStated | None = None,
        budget: BudgetPerStated | None = None,
        columns: Mapping[str, ColumnStated] | None = None,
        rows_per_unit: int | None = None,
        groups_per_unit: int | None = None,
        rows_after_joins: int | None = None,
        neighbours: Neighbours | str | None = None,
        analysts: CapsStated | None = None,
        foreign_keys: Sequence[KeyStated] | None = None,
        csv: CSVFormat | Mapping[str, Any] | None = None,
        public: bool | None = None,
        description: str | None = None,
    ) -> Table:
        """Take in the rows of ``source`` under a policy: a `Table`, a policy file, or what is stated here.

        The keywords are the fields of a policy file; ``table`` is the file's name if left out. ``budget`` may be a
        number, ε. ``columns`` says what is public about some columns: ``{"age": (0, 110)}`` for bounds, ``{"ward":
        {"keys": ["A", "B"]}}`` for this and other facts of policy files, ``{"age": "integer"}`` for the type that a
        CSV file does not state. ``csv`` says how its values are spelled: ``{"decimal": ",", "nulls": ["NA"]}``. Names
        and types come from the source's schema, and nothing from its rows. ``time`` says how a table grows by periods:
        ``{"column": "admitted", "every": "week", "from": "2026-01-05"}``.

        A table that is protected already gets new data; its unit, its neighbours and its budgets stay as they were.
        ``unread`` is told, per column, how many values could not be read as its type and what they look like: exact,
        for the owner alone. ``appended`` is told what became of the rows of a table that grows, which `append` returns.
        Left out, a Python warning says it.
        """
        promised = {"unit": unit, "budget": budget, "neighbours": neighbours, "analysts": analysts, "public": public}
        limits = {"rows_per_unit": rows_per_unit, "groups_per_unit": groups_per_unit}
        joined = {"rows_after_joins": rows_after_joins, "foreign_keys": foreign_keys}
        named = {"table": table, "time": time, "columns": columns, "csv": csv, "description": description}
        whole = read_stated_policy(source, policy, named | promised | limits | joined)
        found: dict[str, UnreadColumn] = {}
        done: list[Appended] = []
        tell = (found.update if unread is None else unread, done.append if appended is None else appended)
        made = self._take_in(source, whole, progress, *tell)
        words = [*unread_words(made, found), *(one.words() for one in done if one.set_aside)]
        if words:
            warnings.warn("\n".join(words), stacklevel=2)
        return made

    def _take_in(
        self,
        source: Any,
        table: Table,
        progress: Callable[[float], None] | None,
        unread: Unread,
        appended: Callable[[Appended], None],
    ) -> Table:
        self._reread()
        before, catalog = self.catalog.find(table.name), self._checked(table)
        if table.time is not None:
            self.engine.begin(table, source, catalog=catalog)
            with self.changing_policies():
                table = read_analysts(before, self.catalog.find(table.name), table)
                open_of = open_growing if table.is_by_period else open_accounts
                open_of(self.ledger, self._checked(table), table)
                self.write_policy(table)
            if self.engine.capabilities.takes_rows:
                done = self.engine.append(
                    table, source, id="protect", catalog=catalog, progress=progress, unread=unread
                )
                appended(done)
            return table
        self.engine.take_in(table, source, catalog=catalog, progress=progress, unread=unread)
        with self.changing_policies():
            table = read_analysts(before, self.catalog.find(table.name), table)
            open_accounts(self.ledger, self._checked(table), table)
            self.write_policy(table)
        return table

    def find_duplicates(self, table: str) -> list[str]:
        """What an owner should know about a table: others that hold the same rows, or whose names look like its own."""
        known = self.catalog.find(table)
        return [] if known is None else describe_duplicates(known, self.catalog, self.engine.store.manifest())

    def check(self, table: Table) -> None:
        """Refuse a policy that `protect` would refuse, whatever the rows are."""
        self._reread()
        self._checked(table)

    def _checked(self, table: Table) -> Catalog:
        """The catalog with this table; refused where that would change what was promised or granted."""
        before, catalog = self.catalog.find(table.name), self.catalog.with_table(table)
        check_length(table)
        if before is not None:
            check_promise(before, table)
            check_unit(table, self.catalog, catalog)
        accounts = self.ledger.accounts()
        check_spelling(table, accounts)
        check_accounts(table, accounts)
        check_granted(table, accounts)
        check_people(table, catalog, accounts)
        check_lifetime(table, catalog, accounts)
        return catalog

    def allow(self, table: str, analyst: str, cap: BudgetStated | None = None, *, by: str | None = None) -> Table:
        """Let ``analyst`` ask about a table, up to a ``cap`` of their own or with the whole budget; ``by`` whom.

        Who may ask already gets the cap instead of the one they had, which must not be below what they spent. That
        stays counted, also when they were not allowed in between. (Somebody whom a policy lists without a cap has an
        account from the first call on; before that, their questions count in the table's account alone.)
        """
        return allow(self, table, analyst, cap, by)

    def disallow(self, table: str, analyst: str, *, by: str | None = None) -> Table:
        """Let ``analyst`` ask no more about a table."""
        return disallow(self, table, analyst, by)

    def lower(self, people: str, budget: BudgetStated, *, by: str | None = None) -> None:
        """Lower what some people may lose in all, to no less than was spent; ``people`` as `budget` calls them.

        It is never raised again. A policy that states what they may lose is written anew.
        """
        stated = Budget.of(budget, f"the budget of {people}")
        with self.changing_policies():
            lower_people(self.ledger, people, stated, by)
            for table in list(self.catalog):
                if self.catalog.person_domain(table.name) == people:
                    self._policies.write(state_granted(table, stated))
            self._reread()

    # Tables that grow.

    def append(
        self,
        table: str,
        source: Any,
        *,
        id: str | None = None,  # noqa: A002  as owners say it
        progress: Callable[[float], None] | None = None,
        unread: Unread | None = None,
    ) -> Appended:
        """Take more rows into a table that grows; what became of them is for the owner's eyes alone.

        Each row goes to its period while that is open. Others are set aside, and the answer says how many and why. The
        same rows under the same ``id`` again change nothing, so that a nightly job can be repeated after a crash.
        """
        self._reread()
        stated, _ = find_growing(self.catalog, table)
        name = fresh_id() if id is None else id
        return self.engine.append(stated, source, id=name, catalog=self.catalog, progress=progress, unread=unread)

    def close(self, table: str, *, through: str) -> list[Period]:
        """Close the periods of a table up to one, such as "2026-W07": they take no more rows, and can be asked about.

        Periods close in order, also empty ones. Returns those that were closed now.
        """
        self._reread()
        closed = close_through(self, table, through)
        step_all(self)
        return closed

    def close_due(self, now: datetime | None = None) -> dict[str, list[Period]]:
        """Close every period whose end, with its days of grace, has come; per table, which."""
        self._reread()
        closed = close_due(self, now)
        step_all(self)
        return closed

    def periods(self, table: str) -> list[PeriodState]:
        """The periods of a table that grows: closed ones with what is left of their budgets, and those still open."""
        self.refresh()
        return list_periods(self.ledger, self.catalog, table)

    def forget(self, table: str, unit_value: object) -> None:
        """Have all rows of a person removed at the next close; nothing that anybody sees tells whether there are any.

        What was released stays, and nothing is refunded. Whoever comes back counts as somebody else.
        """
        self._reread()
        stated, _ = find_growing(self.catalog, table)
        self.engine.forget(stated.name, unit_value)

    # Standing series.

    def subscribe(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        part: Number | None = None,
        periods: int,
        rows_per_unit: int | None = None,
        since: str | None = None,
        readers: Sequence[str] = (),
        analyst: str | None = None,
    ) -> StandingSeries:
        """Begin a series: a question that is answered for every period of a table that grows, when it closes.

        Give the price ``epsilon``, or a ``part`` of the budget such as "1/2". Where units are people, that is paid
        once, now, for all ``periods`` together, and the first ``rows_per_unit`` rows of a person count; nothing of it
        comes back. Where a unit is in one period, every period is paid when it closes, and nothing is set aside for
        it. The first period is the next to close, or ``since``, which may be closed already. Bounds, keys and noise
        stay as they are today. ``readers`` are analysts who may read it, for free; the owner always may.
        `explain_series` says what it would cost.
        """
        wanted = WantedSeries(sql, epsilon, part, periods, rows_per_unit, since, readers, analyst)
        terms = begin(self, wanted)
        step_all(self)
        return self.series(id=terms.id)[0]

    def explain_series(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        part: Number | None = None,
        periods: int,
        rows_per_unit: int | None = None,
        since: str | None = None,
        confidence: Number = 0.95,
        analyst: str | None = None,
    ) -> SeriesExplanation:
        """What a series would cost, once or for each period, and how good its figures would be; nothing is charged."""
        wanted = WantedSeries(sql, epsilon, part, periods, rows_per_unit, since, (), analyst)
        return explain_series(self, wanted, _as_float(confidence))

    def series(
        self,
        analyst: str | None = None,
        *,
        id: str | None = None,  # noqa: A002  as owners say it
        confidence: Number = 0.95,
    ) -> list[StandingSeries]:
        """The series that began, in order, which an analyst may read, or the owner; or the one whose id begins so."""
        self.refresh()
        found = [one for one in list_series(self.ledger) if may_read(one, analyst, self._analysts(one.terms.table))]
        if id is not None:
            found = [one for one in found if id and one.terms.id.startswith(id)]
            if len(found) != 1:
                raise InvalidValue("a series must have this id", id, "discreet series lists them")
        return [StandingSeries(self, one, _as_float(confidence), analyst) for one in found]

    def _analysts(self, table: str) -> Collection[str]:
        known = self.catalog.find(table)
        return () if known is None else known.analysts

    # What happened.

    def suspensions(self, *, lifted: bool = False) -> list[Suspension]:
        """Who is suspended at which tables since which record, because a question failed; or all who ever were."""
        return suspensions_in(self.ledger, lifted=lifted)

    def lift(self, record: int, because: str, *, by: str | None = None) -> Suspension:
        """Let who is suspended by the failure of this record ask again, and write down why; ``by`` whom.

        The failed question is not run again for what was charged: asked again, it costs its price.
        """
        return lift(self.ledger, record, because, by)

    def record_publication(
        self, *, name: str, approved_by: str, sha256: str, statement: Mapping[str, Any]
    ) -> PublicationRecord:
        """Write down that a table was published without differential privacy: an infinite loss, approved by name."""
        return record_publication(self.ledger, name, approved_by, sha256, statement)

    def publications(self) -> list[PublicationRecord]:
        """What was published without differential privacy, from the first on."""
        return publications_in(self.ledger)

    # Policies on disk.

    def refresh(self) -> None:
        """See what other processes changed about policies; free where nothing changed.

        A policy that cannot be read, or does not fit the ledger, stops every question until the owner mends it.
        """
        try:
            self._reread()
        except (DiscreetError, OSError):
            remedy = "the owner finds the reason when the curator is opened again"
            raise StoreError("the policies must be readable and fit the ledger", None, remedy) from None

    def _reread(self) -> None:
        if self.is_pinned or self._policies.stamp() == self._stamp:
            return
        with self._rereading:
            stamp = self._policies.stamp()
            if stamp == self._stamp:
                return  # another thread read them while this one waited
            accounts, catalog = self.ledger.accounts(), self._policies.read()
            for table in catalog:
                check_spelling(table, accounts)
                check_accounts(table, accounts)
                check_whose(table, catalog, accounts)
            join_people(self.ledger, catalog)
            self.catalog, self._stamp = catalog, stamp

    def policies_digest(self) -> str:
        """A hash of the policy files as they are, by which a change behind everybody's back is seen."""
        return self._policies.digest()

    @contextmanager
    def changing_policies(self) -> Iterator[None]:
        """Be the only one who changes policies, from how they are now."""
        with self._policies.changing():
            self._reread()
            yield

    def write_policy(self, table: Table) -> None:
        """Make this the policy of a table; only for who is `changing_policies`, and checked what it changes."""
        self._policies.write(table)
        self._reread()

    # Asking.

    def explain(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        part: Number | None = None,
        as_of: AsOfStated | None = None,
        confidence: Number = 0.95,
        analyst: str | None = None,
    ) -> Explanation:
        """Price, shape and expected error of a question, by its price, its error, or a part of the budget.

        It reads no data and is free.
        """
        terms = QuestionTerms(epsilon, within, part, as_of)
        return self._pricing(self._planner, analyst).explain(sql, terms, _as_float(confidence), self.offers)

    def ask(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        part: Number | None = None,
        as_of: AsOfStated | None = None,
        confidence: Number = 0.95,
        analyst: str | None = None,
        request: str | None = None,
        raw: bool = False,
        hold: Callable[[], object] | None = None,
    ) -> Answer:
        """The private answer. Give the price ``epsilon``, or the error ``within`` and let the price follow.

        Or give a ``part`` of the budget, such as "1/4": the noise is then Laplace or Gaussian, whichever is expected to
        be off by less, among those that still fit. ``as_of`` is the day or the moment that CURRENT_DATE means.

        The same ``request`` is charged once and answered once, also where its process was killed, and new data came
        before it was asked again. ``hold`` is called once rows were read, also where that failed, before anything is
        written down about them: how long it took shows in the order of records and in balances, unless a service waits
        there.
        """
        confidence, terms = _as_float(confidence), QuestionTerms(epsilon, within, part, as_of)

        def planned(planner: Planner) -> list[PlannedQuestion]:
            options = terms.plan(planner, sql, confidence, analyst)
            return [self._pricing(planner, analyst).choose(options)]

        asked = AskedQuestion([sql], planned, terms, confidence, analyst, request, raw)
        (answer,) = self._ask_together(asked, hold)
        return answer

    def ask_all(
        self,
        queries: Sequence[str],
        epsilon: Number,
        *,
        as_of: AsOfStated | None = None,
        confidence: Number = 0.95,
        analyst: str | None = None,
        request: str | None = None,
        raw: bool = False,
    ) -> list[Answer]:
        """Private answers to a fixed batch of questions, planned together for one price, ``epsilon``.

        Questions over the same rows and groups are measured once, and those about people who cannot be the same do not
        share the price, so each answer is at least as good as one asked alone for its part of the price.
        """
        confidence = _as_float(confidence)
        if not isinstance(queries, Iterable):
            raise InvalidType("a batch is a list of questions", queries, "pass a list, as in ask_all([sql, sql], 1)")
        texts = [] if isinstance(queries, str) else list(queries)
        if not texts:
            raise InvalidValue("a batch is a list of questions", queries or "<none>", "ask one question with ask")

        def planned(planner: Planner) -> list[PlannedQuestion]:
            at = planner.at(None if as_of is None else AsOf.of(as_of))
            return at.questions(texts, epsilon, is_batch=True)

        return self._ask_together(
            AskedQuestion(texts, planned, QuestionTerms(epsilon, as_of=as_of), confidence, analyst, request, raw)
        )

    def rehearse(
        self,
        sql: str,
        epsilon: Number | None = None,
        *,
        within: Number | None = None,
        part: Number | None = None,
        as_of: AsOfStated | None = None,
        confidence: Number = 0.95,
        analyst: str | None = None,
        rows: int = 1000,
        raw: bool = False,
    ) -> Answer:
        """The answer on ``rows`` made-up rows: same plan, price and shape, but free, and of nobody's data."""
        confidence, planner = _as_float(confidence), self._planner
        options = QuestionTerms(epsilon, within, part, as_of).plan(planner, sql, confidence, analyst)
        check_analyst(options, planner.catalog, analyst)
        question = choose(options, is_known=lambda _: False, affords=lambda _: True)
        if question.price is None:
            return answer_publicly(planner, question, confidence)
        with SyntheticStore(MadeUpRows(planner.catalog, rows, planner.public_rows)) as stage:
            measured = [measure(stage.prepared(plan), stage.run, stage.source) for plan in question.plans]
            if question.pieces:
                pieces = [
                    [measure(stage.prepared(plan), stage.run, stage.source) for plan in one.plans]
                    for one in question.pieces
                ]
                measured = join_measured(question, pieces)
        table, error = compute_answer(question.split, measured, planner.public(question), confidence, raw)
        notes = (NOTE, *write_notes(question, confidence, offers=self.offers))
        return Answer(table, error, confidence, question.price, False, notes, {})

    # Paid questions that help to write a policy.

    def suggest_bounds(
        self, table: str, column: str, epsilon: Number, *, analyst: str | None = None
    ) -> SuggestedBounds:
        """Round bounds that hold about 99 % of a column's values; one question, charged like any other."""
        self.refresh()
        return suggest_bounds(self, table, column, epsilon, analyst)

    def suggest_rows_per_unit(self, table: str, epsilon: Number, *, analyst: str | None = None) -> SuggestedRows:
        """The rows_per_unit that counts about 95 % of the people in full; one question, charged like any other."""
        self.refresh()
        return suggest_rows_per_unit(self, table, epsilon, analyst)

    def left_out(self, table: str, by: str | Sequence[str], epsilon: Number, *, analyst: str | None = None) -> LeftOut:
        """How many groups by these columns people are in, and how many of them groups_per_unit leaves out.

        One question, charged like any other.
        """
        self.refresh()
        return left_out(self, table, by, epsilon, analyst)

    def touched(self, table: str, epsilon: Number, *, analyst: str | None = None) -> Touched:
        """How many people and values rows_per_unit and the bounds touch; one question, charged like any other."""
        self.refresh()
        return touched(self, table, epsilon, analyst)

    def budget(self) -> Balances:
        """Per account: what was granted, spent and left, and how many more questions like the last one that is.

        ``more`` is None while nothing was charged. ``delta_cap`` and its kin are there where δ was set aside for keys.
        """
        self.refresh()
        accounts = self.ledger.accounts()
        prices = self._last_prices.now()
        found = Balances(
            {
                name: compute_balance(account, prices.get(name), accounts.get(account.open_unit or ""))
                for name, account in accounts.items()
            }
        )
        found.of_several_kinds, found.tree = sum_people(self.catalog, accounts), find_tree(self.catalog)
        return found

    def __repr__(self) -> str:
        return f"Curator({str(self.folder)!r})"

    def _repr_html_(self) -> str:
        """The tables with what is public about them, and what is left to ask; nothing of this comes from rows."""
        self.refresh()
        return catalog_html(self.catalog) + self.budget()._repr_html_()

    # Pricing.

    @property
    def _planner(self) -> Planner:
        """The planner of the policies and rows as they are now; a question keeps to one, whatever changes meanwhile.

        Rows come first: policies may be newer than they are, but never state more about them than was seen.
        """
        snapshot = self.engine.snapshot()
        self.refresh()
        catalog, known = self.catalog, self._known_planner
        if known is None or known.stated is not catalog or known.snapshot is not snapshot:
            check_roots(self.ledger, self.engine, catalog)
            known = self._known_planner = Planner(catalog, snapshot)
        return known


def _as_float(confidence: Number) -> float:
    """The confidence that error bars are computed at, refused before a price is charged where there is none."""
    found = float(open_probability(confidence, "confidence"))
    if not 0 < found < 1:
        raise InvalidValue("confidence must be a float strictly between 0 and 1", confidence)
    return found
