import { languageOf } from '../language.ts'
import { kindsOf } from './file-kind.ts'
import type { LiveSegment } from './rank.ts'

const QUOTED =
  /(?:\bfrom|\bimport|\brequire\(|\bimport\(|^#[ \t]*include|\brequire_relative|\brequire|\bsource)[ \t]*['"<]([^'"<>\n]{1,200})['">]/gm
const DOTTED =
  /^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+(?:static[ \t]+)?([\w.]+)|(?:pub[ \t]+)?(?:use|mod)[ \t]+([\w:]+))/gm
const GO = /^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([\w./-]+)"$/gm

/** Generic file names; the name of the folder replaces them. */
const UNNAMED = /^(?:index|__init__|mod|main|lib)$/
/** Prefix of reference terms; no term of a text starts with it. */
const MARK = '>'

/** The index term for files that refer to `name`. */
export const referenceTerm = (name: string): string => `${MARK}${name}`

/** Finds the names of the files that a text imports, includes or requires, in the form of {@link referredName}. */
export function referencesIn(text: string, path: string): Set<string> {
  const patterns = languageOf(path) === 'go' ? [GO] : [QUOTED, DOTTED]
  const names = new Set<string>()
  for (const pattern of patterns)
    for (const match of text.matchAll(pattern)) {
      const [, quoted, ...dotted] = match
      const target = quoted ?? dotted.find((name) => name !== undefined)?.replace(/::|\./g, '/')
      if (target !== undefined) names.add(referredName(target))
    }
  names.delete('')
  return names
}

/** The name by which other files import a file: its stem, or its folder's name for `index`, `__init__` and similar. */
function referredName(path: string): string {
  const parts = path.split('/')
  const name = (parts.pop() ?? '').replace(/\.[\w.]+$/, '')
  return (UNNAMED.test(name) ? (parts.pop() ?? name) : name).toLowerCase()
}

/**
 * Scores files by the number of files that refer to their name, relative to the most referred file: 0–1 on a
 * logarithmic scale. Files of the same name share its references. Only code is scored, without tests, examples and
 * similar kinds.
 */
export function referredFiles(live: readonly LiveSegment[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { segment, alive } of live)
    for (const { term, postings } of segment.startingWith(MARK)) {
      const count = postings.files.reduce((sum, file) => sum + (alive[file] ?? 0), 0)
      const name = term.slice(MARK.length)
      counts.set(name, (counts.get(name) ?? 0) + count)
    }
  const paths = live.flatMap(({ segment, alive }) =>
    segment.files.filter(({ part = 0 }, i) => part === 0 && alive[i] === 1).map(({ path }) => path),
  )
  const named = new Map<string, string[]>()
  for (const path of paths.filter((each) => kindsOf(each).length === 0)) {
    const name = referredName(path)
    named.set(name, [...(named.get(name) ?? []), path])
  }
  const shares = [...named].flatMap(([name, files]) => {
    const share = Math.log1p((counts.get(name) ?? 0) / files.length)
    return share > 0 ? files.map((path) => [path, share] as const) : []
  })
  const most = shares.reduce((max, [, share]) => Math.max(max, share), 1)
  return new Map(shares.map(([path, share]) => [path, share / most]))
}
