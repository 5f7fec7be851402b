/** Prefix of the local ids of the agent gateway's records. No id of this gateway starts with it. */
export const REMOTE_PREFIX = 'upstream:'
/** Follows the prefix when the remote id contains characters that a local id cannot. */
const ENCODED = 'b64:'

/**
 * Local id of a record that the agent gateway calls `id`.
 *
 * @example localId('task-7') // 'upstream:task-7'
 */
export function localId(id: string): string {
  if (/^[\w.:-]+$/.test(id) && !id.startsWith(ENCODED)) return REMOTE_PREFIX + id
  return `${REMOTE_PREFIX}${ENCODED}${Buffer.from(id).toString('base64url')}`
}

/** Returns the agent gateway's own id of a record. Null when `id` is not one of its records. */
export function remoteId(id: string): string | null {
  if (!id.startsWith(REMOTE_PREFIX)) return null
  const rest = id.slice(REMOTE_PREFIX.length)
  return rest.startsWith(ENCODED) ? Buffer.from(rest.slice(ENCODED.length), 'base64url').toString() : rest
}
