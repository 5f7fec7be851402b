/** What ids of the agent gateway's records begin with here; no id of this gateway's own does. */
export const REMOTE_PREFIX = 'upstream:'
/** Follows the prefix where an id has characters that an id here cannot have. */
const ENCODED = 'b64:'

/** The id here of what the agent gateway calls `id`. */
export function localId(id: string): string {
  if (/^[\w.:-]+$/.test(id) && !id.startsWith(ENCODED)) return REMOTE_PREFIX + id
  return `${REMOTE_PREFIX}${ENCODED}${Buffer.from(id).toString('base64url')}`
}

/** The agent gateway's own id of a record; null where `id` is not one of its records. */
export function remoteId(id: string): string | null {
  if (!id.startsWith(REMOTE_PREFIX)) return null
  const rest = id.slice(REMOTE_PREFIX.length)
  return rest.startsWith(ENCODED) ? Buffer.from(rest.slice(ENCODED.length), 'base64url').toString() : rest
}
