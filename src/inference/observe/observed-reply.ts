import { parseJson } from '../../text/json.ts'
import { bodyText } from '../passages/upstream-reply.ts'
import type { StreamReply, WholeReply } from '../relay/exchange.ts'
import { NOTHING, type Observed, observedError } from './observe.ts'

/** Observations of a whole reply that is no answer for the client, but may tell what it cost. */
export function observedIn(reply: WholeReply | StreamReply | undefined): Observed {
  if (reply?.kind !== 'whole' || !reply.body.includes('"usage"')) return NOTHING
  return observedError(parseJson(bodyText(reply)))
}
