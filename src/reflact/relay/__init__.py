"""A relay between agent programs and the model: credential, limits, usage and proof of what was asked."""

from reflact.relay.asking import own_request
from reflact.relay.service import Relay
from reflact.relay.upstream import STREAM_CUT
from reflact.relay.visit import Caps, Proof, Visit

__all__ = ["STREAM_CUT", "Caps", "Proof", "Relay", "Visit", "own_request"]
