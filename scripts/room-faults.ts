import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, sep } from 'node:path'

/** Every import of a formatted file, type imports and `import()` too. */
const IMPORT = /(?:\bfrom |\bimport\(|^import )'(\.[^']+)'/gm

/** Lines above which a room is entered by its doors alone. */
const LARGE = 2000

/** Order of the rooms, and the files that are open beside their doors. */
export interface Layout {
  /** Names of the rooms of `src`, lowest first. */
  rooms: readonly string[]
  /** Files of large rooms that others may import, below their rooms. A folder that ends with `/` opens all its files. */
  open: Readonly<Record<string, readonly string[]>>
}

/**
 * Finds imports between rooms that lead upward, in a circle, or past a door.
 *
 * @param root folder of `src`, `tools` and `adapters`
 * @returns one sentence for each fault
 */
export function roomFaults(root: string, { rooms, open }: Layout): string[] {
  const files = ['src', 'tools', 'adapters'].flatMap((folder) => sources(root, folder))
  const imports = new Map(files.map((file) => [file, importsIn(root, file)]))
  const importsFrom = (file: string): readonly string[] => imports.get(file) ?? []
  return [
    ...files.filter((file) => file.startsWith(`src${sep}`)).flatMap((file) => upward(file, importsFrom(file), rooms)),
    ...circles(imports).map(
      (circle) => `These files import each other: ${circle.join(', ')}. Move what they share below them.`,
    ),
    ...largeRooms(root, files, rooms).flatMap((room) => pastDoors(room, imports, open[room] ?? [])),
  ]
}

/** Imports of a file of `src` that leave `src`, or lead to a room above its own. */
function upward(file: string, imports: readonly string[], rooms: readonly string[]): string[] {
  const room = roomOf(file)
  if (!rooms.includes(room))
    return [`${file}: ${room} is no room; name it in scripts/rooms.ts, where it belongs in the order.`]
  return imports.flatMap((imported) => {
    if (imported.startsWith(`..${sep}`) || !imported.startsWith(`src${sep}`))
      return [`${file} imports ${imported}: src imports nothing outside src.`]
    const below = roomOf(imported)
    return rooms.indexOf(below) > rooms.indexOf(room) ? [`${file} imports ${imported}: ${room} is below ${below}.`] : []
  })
}

/** Groups of files that import each other over any number of steps, types included (Tarjan, 1972). */
function circles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = []
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const path: string[] = []
  const visit = (file: string): number => {
    order.set(file, order.size)
    path.push(file)
    let low = order.get(file) as number
    for (const next of imports.get(file) ?? []) {
      if (!imports.has(next)) continue
      if (!order.has(next)) low = Math.min(low, visit(next))
      else if (path.includes(next)) low = Math.min(low, lowest.get(next) ?? (order.get(next) as number))
    }
    lowest.set(file, low)
    if (low !== order.get(file)) return low
    const circle = path.splice(path.indexOf(file))
    if (circle.length > 1) found.push(circle)
    return low
  }
  for (const file of imports.keys()) if (!order.has(file)) visit(file)
  return found
}

/** Rooms of more than {@link LARGE} lines. */
function largeRooms(root: string, files: readonly string[], rooms: readonly string[]): string[] {
  const lines = new Map<string, number>()
  for (const file of files) {
    if (!file.startsWith(`src${sep}`)) continue
    const room = roomOf(file)
    lines.set(room, (lines.get(room) ?? 0) + readFileSync(join(root, file), 'utf8').split('\n').length)
  }
  return rooms.filter((room) => (lines.get(room) ?? 0) > LARGE)
}

/** Imports into a large room from outside that lead past its doors, and doors that nobody uses. */
function pastDoors(room: string, imports: ReadonlyMap<string, readonly string[]>, opened: readonly string[]): string[] {
  const inside = join('src', room) + sep
  const open = opened.map((name) => inside + name.replaceAll('/', sep))
  const used = new Set<string>()
  const past = [...imports]
    .filter(([file]) => !file.startsWith(inside))
    .flatMap(([file, all]) =>
      all.flatMap((imported) => {
        if (!imported.startsWith(inside)) return []
        used.add(imported)
        return isDoor(imported, inside) || open.some((name) => opens(name, imported))
          ? []
          : [
              `${file} imports ${imported}, past the doors of ${room}. Use its door, or open the file in scripts/open-files.ts.`,
            ]
      }),
    )
  const idle = open.filter((name) => isDoor(name, inside) || ![...used].some((file) => opens(name, file)))
  return [
    ...past,
    ...idle.map((file) => `scripts/open-files.ts opens ${file}, which nobody outside ${room} needs open.`),
  ]
}

const opens = (name: string, file: string): boolean => (name.endsWith(sep) ? file.startsWith(name) : file === name)

/** A door has the name of its room or folder: `memory/memory.ts`, `wallet/ledger/ledger.ts`. */
function isDoor(file: string, inside: string): boolean {
  const parts = file.slice(inside.length).split(sep)
  const folder = parts.length === 1 ? (inside.split(sep).at(-2) as string) : (parts.at(-2) as string)
  return parts.at(-1) === `${folder}.ts`
}

function sources(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') || name.endsWith('.tsx'))
    .map((name) => join(folder, name))
}

function importsIn(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(IMPORT)].map(([, path = '']) => normalize(join(dirname(file), path)))
}

function roomOf(file: string): string {
  const [, room = ''] = file.split(sep)
  return room
}
