"""A second application: a workshop's repairs, changed by drivers, mechanics and the manager."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from rpc.gateway import Caller, Request
from rpc.page import ObjectType, PageMethod, PageSpec, Session, Shown, StateObject
from rpc.testing import FakePage
from state.shared import Command, Refused, SharedState

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Job(BaseModel):
    """Something to be done to the car."""

    model_config = ConfigDict(frozen=True)

    id: str
    work: str
    hours: Annotated[int, Field(le=40)] = 1


class Repair(BaseModel):
    """A repair of one car."""

    model_config = ConfigDict(frozen=True)

    plate: str | None = None
    jobs: tuple[Job, ...] = ()
    given: int = 0
    ready: bool = False
    cancelled: bool = False


@dataclass(frozen=True)
class Context:
    """What the rules may use."""

    known: tuple[str, ...] = ("brakes", "tyres", "oil")
    trouble: dict[str, Callable[[], object]] = field(
        default_factory=dict[str, Callable[[], object]]
    )
    """What goes wrong, by its place."""

    def meet(self, place: str) -> None:
        """Do what goes wrong here."""
        self.trouble.get(place, object)()


class Unknown(Refused):
    """The workshop does not do this."""

    code = "unknown_work"


class RepairCommand(Command[Repair, Context]):
    """A change of a repair."""


class AddJob(RepairCommand):
    """Add work."""

    op: Literal["add_job"] = "add_job"
    work: Annotated[str, Field(max_length=40)]
    hours: int = 1

    def touches(self, state: Repair) -> tuple[str, ...]:
        """Rely on nothing."""
        return ()

    def apply(self, state: Repair, context: Context) -> Repair:
        """Add it, or raise the hours of the same work."""
        context.meet("command")
        if self.work not in context.known:
            raise Unknown(f"We do not do this. We do: {', '.join(context.known)}.")
        same = [job for job in state.jobs if job.work == self.work]
        if same:
            hours = same[0].hours + self.hours
            return _with(state, same[0].id, Job(id=same[0].id, work=self.work, hours=hours))
        number = state.given + 1
        job = Job(id=f"J{number}", work=self.work, hours=self.hours)
        return state.model_copy(update={"jobs": (*state.jobs, job), "given": number})


class ChangeJob(RepairCommand):
    """Change work."""

    op: Literal["change_job"] = "change_job"
    demands_version: ClassVar[bool] = True
    job_id: str
    hours: int

    def apply(self, state: Repair, context: Context) -> Repair:
        """Change the hours."""
        (job,) = [job for job in state.jobs if job.id == self.job_id]
        return _with(state, job.id, job.model_copy(update={"hours": self.hours}))


class RemoveJob(RepairCommand):
    """Remove work."""

    op: Literal["remove_job"] = "remove_job"
    demands_version: ClassVar[bool] = True
    job_id: str

    def apply(self, state: Repair, context: Context) -> Repair:
        """Remove it."""
        jobs = tuple(job for job in state.jobs if job.id != self.job_id)
        return state.model_copy(update={"jobs": jobs})


class SetCar(RepairCommand):
    """Say which car it is."""

    op: Literal["set_car"] = "set_car"
    plate: str

    def apply(self, state: Repair, context: Context) -> Repair:
        """Set the plate."""
        return state.model_copy(update={"plate": self.plate})


class Finish(RepairCommand):
    """The car is ready; for mechanics."""

    op: Literal["finish"] = "finish"

    def apply(self, state: Repair, context: Context) -> Repair:
        """Mark it as ready."""
        return state.model_copy(update={"ready": True})


class Cancel(RepairCommand):
    """Cancel the repair; for the manager."""

    op: Literal["cancel"] = "cancel"

    def apply(self, state: Repair, context: Context) -> Repair:
        """Mark it as cancelled."""
        return state.model_copy(update={"cancelled": True})


def _with(state: Repair, job_id: str, job: Job) -> Repair:
    jobs = tuple(job if one.id == job_id else one for one in state.jobs)
    return state.model_copy(update={"jobs": jobs})


class RepairView(Shown):
    """A repair as clients see it."""

    version: int
    agent: str
    plate: str | None
    jobs: tuple[dict[str, JsonValue], ...]
    ready: bool


def view(state: Repair, version: int, agent: str) -> dict[str, JsonValue]:
    """Render a repair."""
    return {
        "version": version,
        "agent": agent,
        "plate": state.plate,
        "jobs": [job.model_dump() for job in state.jobs],
        "ready": state.ready,
    }


def jobs(state: Repair) -> Iterable[StateObject]:
    """Return the jobs as objects."""
    return (StateObject(job.id, {"work": job.work, "hours": job.hours}) for job in state.jobs)


def car(state: Repair) -> Iterable[StateObject]:
    """Return the car as an object."""
    return (StateObject("car", {"plate": state.plate}, NOON if state.plate else None),)


def whole(state: Repair) -> Iterable[StateObject]:
    """Return the repair as an object."""
    return (StateObject("r-1", {}, NOON, NOON),)


class GetHours(Request):
    """Read how much work there is."""

    least: int = 0


class Hours(Shown):
    """How much work there is."""

    hours: int


async def get_hours(session: Session[Repair, Context], request: GetHours, caller: Caller) -> Hours:
    """Add up the hours."""
    session.shared.context.meet("method")
    hours = sum(job.hours for job in session.shared.state.jobs)
    if hours < request.least:
        raise Unknown(f"There are only {hours} hours.", hours=hours)
    return Hours(hours=hours)


def lower(context: Context, command: Command[Repair, Context]) -> Command[Repair, Context]:
    """A page writes work with a capital letter."""
    context.meet("resolve")
    if isinstance(command, AddJob):
        return command.model_copy(update={"work": command.work.lower()})
    return command


DRIVER = (AddJob, ChangeJob, RemoveJob, SetCar)

SPEC: PageSpec[Repair, Context] = PageSpec(
    noun="repair",
    view=view,
    view_form=RepairView,
    user="driver",
    roles={"driver": DRIVER, "mechanic": (AddJob, Finish), "manager": (*DRIVER, Finish, Cancel)},
    objects={
        "job": ObjectType(
            all=jobs, id_field="job_id", create=AddJob, update=ChangeJob, delete=RemoveJob
        ),
        "repair": ObjectType(all=whole, delete=Cancel),
        "car": ObjectType(all=car, update=SetCar),
    },
    methods=(
        PageMethod(
            name="get_hours",
            request=GetHours,
            replies=(Hours,),
            answer=get_hours,
            roles=("mechanic", "manager"),
            errors=(4022,),
            writes=False,
        ),
    ),
    features=("keys",),
    resolve=lower,
)

DRIVER_1, MECHANIC, MANAGER = "driver-1", "mechanic-1", "manager-1"


class Workshop(FakePage[Repair, Context]):
    """Calls about one repair."""

    def __init__(self, spec: PageSpec[Repair, Context] = SPEC, **more: Any) -> None:
        shared = SharedState(Repair(), Context())
        super().__init__(spec, shared, state_id="r-1", resume_code="a-code", **more)
