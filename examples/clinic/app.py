"""The clinic as an application: command line, console, rooms and worker come from this declaration."""

from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from livekit.agents.llm import LLM
from platformdirs import user_data_path
from pydantic import Field
from pydantic_settings import SettingsConfigDict

from agents.app.app import App, Environment
from agents.app.parts import CommandLine, Forgetting, Replay, Rooms, Stored, Terminal, Web
from agents.app.settings import AppSettings
from examples.clinic.clinic import Clinic, load_clinic
from examples.clinic.desk import DESK, policy
from examples.clinic.page import BOOK, ROLES, VisitView, comment, view
from examples.clinic.speech import sentences, written
from examples.clinic.visit import ClinicState


class Settings(AppSettings):
    """The settings of every application, and the file of the calendar's table."""

    model_config = SettingsConfigDict(env_prefix="CLINIC_")

    agent_name: str = "clinic"
    calendar: Path = Field(default_factory=lambda: user_data_path("clinic", False) / "calendar.db")


def context(environment: Environment) -> Clinic:
    """Make what the rules may use, once per process."""
    calendar: Path = environment.settings.calendar
    calendar.parent.mkdir(parents=True, exist_ok=True)
    return load_clinic(calendar, environment.clock)


def model(clinic: Clinic, settings: Settings) -> LLM[Any]:
    """Build the model without a key."""
    from agents.testing import RulesLLM, load_rules  # other models need no test kit

    return RulesLLM(load_rules(Path(__file__).with_name("rules.yaml"), DESK))


def without_patient(visit: ClinicState) -> ClinicState:
    """Keep the data of a visit that the clinic's statistics need, without its patient's."""
    kept = visit.model_dump(include={"visit_id", "reason", "slot", "rating", "arrived"})
    return ClinicState(**kept)


APP: App[ClinicState, Clinic] = App(
    name="clinic",
    noun="visit",
    plural="visits",
    prefix="clinic",
    state=ClinicState,
    settings=Settings,
    context=context,
    new=lambda clinic, new: ClinicState(visit_id=new.id),
    graph=DESK,
    policy=policy,
    view=view,
    view_form=VisitView,
    roles=ROLES,
    methods=(BOOK,),
    model=model,
    title=lambda clinic: clinic.facts.name,
    stored=Stored(refuse_resume=lambda visit, clinic: "is over" if visit.arrived else None),
    forgetting=Forgetting(keep=without_patient, identifying=("name", "phone", "member_id")),
    rooms=Rooms(
        attributes=lambda visit: {"stage": visit.stage},
        comment=comment,
        sentences=sentences,
        written=written,
    ),
    web=Web(page=Path(__file__).parents[2] / "clients/clinic/dist"),
    terminal=Terminal(zone=lambda visit, clinic: ZoneInfo(clinic.facts.timezone)),
    replay=Replay(settings=lambda folder: {"calendar": folder / "calendar.db"}),
    command_line=CommandLine(help="Maple Street Dental: a front desk of four agents."),
)
