"""The long profile has to be known before the command line is read."""

from tests.state.properties.effort import register

register()
