import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'

/**
 * The rooms of `src`, lowest first: a room imports only rooms before it, types included. The files beside the rooms
 * (`errors.ts` at the bottom, `gateway.ts` at the top) count as rooms of their own.
 */
const ROOMS = [
  'errors.ts',
  'lazily.ts',
  'text',
  'wire',
  'providers',
  'store',
  'config',
  'assistants',
  'idempotency',
  'identity',
  'calls',
  'wallet',
  'alerts',
  'inference',
  'metering',
  'memory',
  'gaze',
  'context',
  'conversations',
  'research',
  'sessions',
  'skills',
  'chain',
  'payments',
  'escrow',
  'tasks',
  'agent',
  'connections',
  'agent-gateway',
  'gateway.ts',
  'storeless-gateway.ts',
]

/** Every import of a formatted file, type imports and `import()` too. */
const IMPORT = /(?:\bfrom |\bimport\(|^import )'(\.[^']+)'/gm

const faults = sources('src').flatMap((file) => {
  const room = roomOf(file)
  if (!ROOMS.includes(room))
    return [`${file}: ${room} is no room; name it in scripts/rooms.ts, where it belongs in the order.`]
  return importsOf(file).flatMap((imported) => {
    if (imported.startsWith(`..${sep}`) || !imported.startsWith(`src${sep}`))
      return [`${file} imports ${imported}: src imports nothing outside src.`]
    const below = roomOf(imported)
    return ROOMS.indexOf(below) > ROOMS.indexOf(room) ? [`${file} imports ${imported}: ${room} is below ${below}.`] : []
  })
})

for (const fault of faults) console.error(fault)
if (faults.length > 0) {
  console.error(`The order of the rooms, lowest first: ${ROOMS.join(', ')}.`)
  process.exitCode = 1
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(IMPORT)].map(([, path = '']) => normalize(join(dirname(file), path)))
}

function roomOf(file: string): string {
  const [, room = ''] = file.split(sep)
  return room
}
