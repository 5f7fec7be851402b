import { isObject } from '../../text/json.ts'
import { memberOf, type SessionRequest, type Word } from './session-words.ts'

/** Header in which Codex describes its turn, and the member of `client_metadata` that says the same on its socket. */
const TURN_METADATA = 'x-codex-turn-metadata'

/** Reads what a client says of its turn and folder, as JSON that is not checked. Undefined where it says nothing. */
export function turnMetadataOf(
  headers: SessionRequest['headers'],
  { client_metadata }: SessionRequest['body'] = {},
): string | undefined {
  const inBody = isObject(client_metadata) ? client_metadata[TURN_METADATA] : undefined
  const said = inBody ?? headers[TURN_METADATA]
  return typeof said === 'string' ? said : undefined
}

/** Reads a member of the turn metadata. */
export const turnMember =
  (member: string): Word =>
  ({ headers, body }) =>
    memberOf(turnMetadataOf(headers, body), member)
