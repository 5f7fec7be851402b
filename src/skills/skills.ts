import { join } from 'node:path'
import type { Config } from '../config/config-schema.ts'
import { GazewayError } from '../errors.ts'
import { lazily } from '../lazily.ts'
import { readInside } from '../repository/confine.ts'
import { sharedRun } from '../wire/repeated-runs.ts'
import { brokenSkill, composeSkill, type SkillPlace } from './compose.ts'
import { type FoundSkill, findSkills, MAX_FOLDERS } from './find.ts'
import { FRONT_MATTER_BYTES, matching, type Skill, type SkillQuery, type SkillWithContent } from './skill.ts'
import { type SkillPlaces, type SkillRoot, shownPath, skillRoots } from './skill-roots.ts'

/** Longest part of a SKILL.md that is read, in bytes. */
const CONTENT_BYTES = 1024 * 1024
/** File with names and hashes of the skills that came with an agent. */
const MANIFEST = '.bundled_manifest'
const MANIFEST_BYTES = 256 * 1024

/** Skills on this machine. Each call checks the disk and reads changed files. */
export interface Skills {
  /** Lists the skills of a query, by name; `warnings` name what was omitted. */
  list(query: SkillQuery): Promise<{ items: Skill[]; warnings: string[] }>
  /**
   * Reads a skill with at most 1 MiB of its instructions.
   *
   * @throws GazewayError `not_found`
   */
  get(id: string): Promise<SkillWithContent>
}

/** A skill and its file. */
interface Entry {
  skill: Skill
  root: string
  file: FoundSkill
}

interface Scan {
  entries: Map<string, Entry>
  warnings: string[]
}

/** Creates the skills in the folders of `config`, which is read with each call. */
export function createSkills({ config, ...places }: SkillPlaces & { config: () => Config['skills'] }): Skills {
  let read = new Map<string, { stamp: string; skill: Skill }>()
  const scan = sharedRun(scanAll)

  async function scanAll(): Promise<Scan> {
    const roots = skillRoots(config(), places)
    const found = await Promise.all(roots.map((root) => entriesOf(root)))
    const seen = new Set<string>()
    const distinct = found.filter(({ real }) => real !== null && seen.size < seen.add(real).size)
    // Keeps only entries that still exist.
    read = new Map(distinct.flatMap(({ kept }) => kept))
    return { entries: unhidden(distinct.flatMap(({ entries }) => entries)), warnings: found.flatMap(cutWarning) }
  }

  async function entriesOf(root: SkillRoot) {
    const { root: real, skills: files, cut } = await findSkills(root.path)
    if (real === null) return { real, entries: [], kept: [], cut, path: root.path }
    const bundled = await bundledIn(real)
    const entries = await Promise.all(
      files.map(async (file) => ({ root: real, file, skill: await skillOf(file, real, root, bundled.has(file.id)) })),
    )
    const kept = entries.map(({ file, skill }) => [join(real, file.inside), { stamp: file.stamp, skill }] as const)
    return { real, entries, kept, cut, path: root.path }
  }

  async function skillOf(file: FoundSkill, real: string, root: SkillRoot, bundled: boolean): Promise<Skill> {
    const known = read.get(join(real, file.inside))
    if (known?.stamp === file.stamp) return known.skill
    const place: SkillPlace = {
      id: file.id,
      path: shownPath(join(root.path, file.path), places.home),
      source: bundled ? 'bundled' : root.source,
      updated_at: file.modified.toISOString(),
      above: file.above,
    }
    const text = (await readInside(real, file.inside, FRONT_MATTER_BYTES))?.toString('utf8')
    if (text === undefined) return brokenSkill(place, 'Its SKILL.md cannot be read.')
    const skill = await composed(place, text)
    return { ...skill, warnings: [...skill.warnings, ...sizeWarning(file.bytes)] }
  }

  function cutWarning({ cut, path }: { cut: boolean; path: string }): string[] {
    const shown = shownPath(path, places.home)
    return cut ? [`${shown} has more than ${MAX_FOLDERS} folders; the others were skipped.`] : []
  }

  function listed(skill: Skill): Skill {
    return config().disabled.includes(skill.id) ? { ...skill, enabled: false } : skill
  }

  return {
    async list(query) {
      const { entries, warnings } = await scan()
      const skills = [...entries.values()].map(({ skill }) => listed(skill))
      return { items: matching(skills, query).sort(byName), warnings }
    },

    async get(id) {
      const { entries } = await scan()
      const entry = entries.get(id)
      if (!entry) throw new GazewayError('not_found', 'There is no skill with this id.', { param: 'id' })
      const text = (await readInside(entry.root, entry.file.inside, CONTENT_BYTES))?.toString('utf8')
      return { ...listed(entry.skill), content: text === undefined ? null : await contentOf(text) }
    },
  }
}

/** Resolves conflicts of ids and names: the first one wins and warns about those it hides. */
function unhidden(entries: readonly Entry[]): Map<string, Entry> {
  const shown = new Map<string, Entry>()
  const named = new Map<string, Entry>()
  for (const entry of entries) {
    const { id, name, path } = entry.skill
    const before = shown.get(id) ?? named.get(name)
    if (before) {
      const warnings = [...before.skill.warnings, `It hides ${path}, which has the same name.`]
      Object.assign(before, { skill: { ...before.skill, warnings } })
      continue
    }
    const own = { ...entry }
    shown.set(id, own)
    named.set(name, own)
  }
  return shown
}

const loadFrontMatter = lazily(() => import('./front-matter.ts'))

async function composed(place: SkillPlace, text: string): Promise<Skill> {
  const { parseFrontMatter } = await loadFrontMatter()
  try {
    return composeSkill(place, parseFrontMatter(text))
  } catch (error) {
    return brokenSkill(place, faultOf(error))
  }
}

/** Text after the front matter; the whole text when it has none. */
async function contentOf(text: string): Promise<string> {
  const { parseFrontMatter } = await loadFrontMatter()
  try {
    return parseFrontMatter(text).content
  } catch {
    // The skill's error explains the fault. Its author needs to see the text unchanged.
    return text
  }
}

/** Shortens a YAML error to its first line, which states the position; the faulty text comes after it. */
function faultOf(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return first.startsWith('It') ? first : `Its front matter is not valid YAML: ${first.replace(/:$/, '')}.`
}

function sizeWarning(bytes: number): string[] {
  if (bytes <= CONTENT_BYTES) return []
  return [`Its SKILL.md has ${bytes} bytes; only the first ${CONTENT_BYTES} are read.`]
}

async function bundledIn(root: string): Promise<Set<string>> {
  const text = (await readInside(root, MANIFEST, MANIFEST_BYTES))?.toString('utf8') ?? ''
  return new Set(text.split(/\r?\n/).map((line) => line.split(':', 1)[0]?.trim() ?? ''))
}

const byName = (a: Skill, b: Skill): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
