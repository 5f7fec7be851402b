import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

/** The prefixes of Gazeway's record ids. */
export type IdPrefix =
  | 'mem'
  | 'gaze'
  | 'att'
  | 'call'
  | 'key'
  | 'grp'
  | 'task'
  | 'rev'
  | 'swarm'
  | 'esc'
  | 'ses'
  | 'msg'
  | 'conn'
  | 'conv'
  | 'req'
  | 'wd'
  | 'grp'
  | 'alw'
  | 'alert'

/** Random numbers, drawn a thousand at a time, because one draw costs nearly as much as a thousand. */
const random = new Uint32Array(1024)
let used = random.length
const generator = new V7Generator({
  nextUint32() {
    if (used === random.length) {
      randomFillSync(random)
      used = 0
    }
    return random[used++] as number
  },
})

/** Bytes of the id that is being created. */
const bytes = Buffer.alloc(16)

/**
 * Creates an id: prefix, underscore, UUIDv7 without dashes (RFC 9562 section 5.7). Ids of one process sort by creation.
 *
 * @example newId('mem') // 'mem_0199f4c2c5b27a3e8f0d…'
 */
export function newId(prefix: IdPrefix): string {
  // The generator's own toHex creates a string for each digit.
  bytes.set(generator.generate().bytes)
  return `${prefix}_${bytes.toString('hex')}`
}
