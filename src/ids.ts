import { uuidv7obj } from 'uuidv7'

/** The prefixes of Gazeway's record ids. */
export type IdPrefix =
  | 'mem'
  | 'gaze'
  | 'att'
  | 'call'
  | 'key'
  | 'task'
  | 'swarm'
  | 'esc'
  | 'ses'
  | 'msg'
  | 'conn'
  | 'req'

/**
 * A new id: prefix, underscore, UUIDv7 without dashes (RFC 9562 section 5.7). Ids of one process sort by creation.
 *
 * @example newId('mem') // 'mem_0199f4c2c5b27a3e8f0d…'
 */
export function newId(prefix: IdPrefix): string {
  // Its own toHex makes a string for each digit.
  return `${prefix}_${Buffer.from(uuidv7obj().bytes.buffer).toString('hex')}`
}
