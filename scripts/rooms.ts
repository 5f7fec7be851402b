import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'
import { OPEN_FILES } from './open-files.ts'

/**
 * The rooms of `src`, lowest first: a room imports only rooms before it, types included. The files beside the rooms
 * (`errors.ts` at the bottom, `gateway.ts` at the top) count as rooms of their own.
 */
const ROOMS = [
  'errors.ts',
  'kept-code.ts',
  'lazily.ts',
  'text',
  'wire',
  'providers',
  'store',
  'config',
  'base.ts',
  'signing',
  'assistants',
  'idempotency',
  'identity',
  'calls',
  'coding-sessions',
  'wallet',
  'alerts',
  'inference',
  'metering',
  'reconcile',
  'memory',
  'gaze',
  'context',
  'projects',
  'review',
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
  'remote',
  'gateway.ts',
  'storeless-gateway.ts',
]

/** Every import of a formatted file, type imports and `import()` too. */
const IMPORT = /(?:\bfrom |\bimport\(|^import )'(\.[^']+)'/gm

/** Lines above which a room is entered by its doors alone. */
const LARGE = 2000

const files = ['src', 'tools', 'adapters'].flatMap(sources)
const known = new Set(files)
const importsOf = new Map(files.map((file) => [file, importsIn(file)]))

const faults = [
  ...files.filter((file) => file.startsWith(`src${sep}`)).flatMap(upward),
  ...circles().map((circle) => `These files import each other: ${circle.join(', ')}. Move what they share below them.`),
  ...largeRooms().flatMap(pastDoors),
]

for (const fault of faults) console.error(fault)
if (faults.length > 0) {
  console.error(`The order of the rooms, lowest first: ${ROOMS.join(', ')}.`)
  process.exitCode = 1
}

/** Imports of a file of `src` that leave `src`, or lead to a room above its own. */
function upward(file: string): string[] {
  const room = roomOf(file)
  if (!ROOMS.includes(room))
    return [`${file}: ${room} is no room; name it in scripts/rooms.ts, where it belongs in the order.`]
  return importsFrom(file).flatMap((imported) => {
    if (imported.startsWith(`..${sep}`) || !imported.startsWith(`src${sep}`))
      return [`${file} imports ${imported}: src imports nothing outside src.`]
    const below = roomOf(imported)
    return ROOMS.indexOf(below) > ROOMS.indexOf(room) ? [`${file} imports ${imported}: ${room} is below ${below}.`] : []
  })
}

/** Groups of files that import each other over any number of steps, types included (Tarjan, 1972). */
function circles(): string[][] {
  const found: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const visit = (file: string): number => {
    order.set(file, order.size)
    path.push(file)
    let low = order.get(file) as number
    for (const next of importsFrom(file)) {
      if (!known.has(next)) continue
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (path.includes(next)) low = Math.min(low, lowest.get(next) ?? (order.get(next) as number))
    }
    lowest.set(file, low)
    if (low !== order.get(file)) return low
    const circle = path.splice(path.indexOf(file))
    if (circle.length > 1) found.push(circle)
    return low
  }
  for (const file of files) if (!order.has(file)) visit(file)
  return found
}

/** Rooms of more than {@link LARGE} lines. */
function largeRooms(): string[] {
  const lines = new Map<string, number>()
  for (const file of files) {
    if (!file.startsWith(`src${sep}`)) continue
    const room = roomOf(file)
    lines.set(room, (lines.get(room) ?? 0) + readFileSync(file, 'utf8').split('\n').length)
  }
  return ROOMS.filter((room) => (lines.get(room) ?? 0) > LARGE)
}

/** Imports into a large room from outside that lead past its doors, and doors that nobody uses. */
function pastDoors(room: string): string[] {
  const inside = join('src', room) + sep
  const open = (OPEN_FILES[room] ?? []).map((name) => inside + name.replaceAll('/', sep))
  const used = new Set<string>()
  const past = files
    .filter((file) => !file.startsWith(inside))
    .flatMap((file) =>
      importsFrom(file).flatMap((imported) => {
        if (!imported.startsWith(inside)) return []
        used.add(imported)
        return isDoor(imported, inside) || open.includes(imported)
          ? []
          : [
              `${file} imports ${imported}, past the doors of ${room}. Use its door, or open the file in scripts/open-files.ts.`,
            ]
      }),
    )
  const idle = open.filter((file) => !used.has(file) || isDoor(file, inside))
  return [
    ...past,
    ...idle.map((file) => `scripts/open-files.ts opens ${file}, which nobody outside ${room} needs open.`),
  ]
}

/** A door has the name of its room or folder: `memory/memory.ts`, `wallet/ledger/ledger.ts`. */
function isDoor(file: string, inside: string): boolean {
  const parts = file.slice(inside.length).split(sep)
  const folder = parts.length === 1 ? (inside.split(sep).at(-2) as string) : (parts.at(-2) as string)
  return parts.at(-1) === `${folder}.ts`
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') || name.endsWith('.tsx'))
    .map((name) => join(folder, name))
}

function importsFrom(file: string): readonly string[] {
  return importsOf.get(file) ?? []
}

function importsIn(file: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(IMPORT)].map(([, path = '']) => normalize(join(dirname(file), path)))
}

function roomOf(file: string): string {
  const [, room = ''] = file.split(sep)
  return room
}
