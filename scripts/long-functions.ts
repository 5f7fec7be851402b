import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { ts } from '@ts-morph/common'

/** Lines that fit on a screen. */
const SCREEN = 70
/** Lines above which a function has to be named among the longest. */
const LONG = 100

/** Bounds of the functions of `src`, `tools` and `adapters`. */
export interface LengthBounds {
  /** Functions that may be longer than {@link SCREEN}. */
  mostOverScreen: number
  /** Functions that may be longer than {@link LONG}: path and name. */
  long: readonly string[]
}

/** A function, with its lines from its head to its last brace. */
interface MeasuredFunction {
  /** Path and name, with `/` on every system. */
  place: string
  lines: number
}

/**
 * Finds functions that are too long.
 *
 * @param root folder of `src`, `tools` and `adapters`
 * @returns one sentence for each fault, then, when too many are long, one for each of the longest
 */
export function longFunctions(root: string, { mostOverScreen, long }: LengthBounds): string[] {
  const over = ['src', 'tools', 'adapters']
    .flatMap((folder) => sources(root, folder))
    .flatMap((file) => functionsIn(root, file))
    .filter(({ lines }) => lines > SCREEN)
    .sort((a, b) => b.lines - a.lines)
  const overLong = over.filter(({ lines }) => lines > LONG)
  const faults = [
    ...overLong
      .filter(({ place }) => !long.includes(place))
      .map(({ place, lines }) => `${place} has ${lines} lines, more than ${LONG}. Split it.`),
    ...long
      .filter((name) => !overLong.some(({ place }) => place === name))
      .map((name) => `scripts/functions.ts allows ${name}, which is not longer than ${LONG} lines any more.`),
  ]
  if (over.length <= mostOverScreen) return faults
  const longest = over.map(({ place, lines }) => `${lines} ${place}`)
  return [
    ...faults,
    `${over.length} functions have more than ${SCREEN} lines; ${mostOverScreen} may. Split one that you changed:`,
    ...longest,
  ]
}

function sources(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') || name.endsWith('.tsx'))
    .map((name) => join(folder, name))
}

function functionsIn(root: string, file: string): MeasuredFunction[] {
  const text = readFileSync(join(root, file), 'utf8')
  // No function of a shorter file is too long.
  if (text.split('\n', SCREEN + 1).length <= SCREEN) return []
  const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind)
  const found: MeasuredFunction[] = []
  const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const lines = lineAt(node.end) - lineAt(node.getStart()) + 1
      found.push({ place: `${file.split(sep).join('/')} ${nameOf(node)}`, lines })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Name of a function, or of what it is assigned to. */
function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText()
  const { parent } = node
  const isNamed = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)
  return isNamed ? parent.name.getText() : 'without a name'
}
