import type { LoadedConfig } from '../../src/config/config.ts'
import { GazewayError } from '../../src/errors.ts'
import {
  createMemory,
  type Memories,
  type Memory,
  type MemoryAddress,
  MemoryInput,
  MemorySearch,
  OF_SESSION,
  type RecentQuery,
  recentMemories,
  removeMemories,
  takeBack,
} from '../../src/memory/memory.ts'
import { createProjects, type Projects } from '../../src/projects/projects.ts'
import { proposalNote } from '../../src/projects/proposal.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { plain } from '../../src/text/single-line.ts'
import { textOf } from '../../src/text/words.ts'
import { parseInput } from '../../src/wire/validation.ts'
import { requireStore } from './require-store.ts'

/** Flags that name memories. Without `project` they are of this folder's project and of none. */
export interface MemoryFlags {
  namespace?: string
  project?: string
}

/** Characters of a value in a list. */
const SHOWN = 100
const LISTED = 100
/** Memories that one transaction deletes: few, as others wait for it. */
const TOGETHER = 25
/** Value of a flag for memories of no project. */
const NONE = 'none'
/** The operator's space of memories. */
const SPACE = 0

/**
 * Lists the newest memories of the project and of none; with words, those that match best.
 *
 * @throws GazewayError `not_found` for a named project without memories
 */
export function listMemories(loaded: LoadedConfig, flags: MemoryFlags, words?: string): Promise<void> {
  return onMemories(loaded, async (memory, projects, store) => {
    const project = await projectsIn(projects, flags)
    const { namespace } = flags
    if (words !== undefined) {
      const query = { ...parseInput(MemorySearch, { query: words, namespace }), project }
      const { results, total } = await memory.search(query)
      for (const found of results) print(found.memory, found.excerpt)
      if (results.length === 0) note('No memory matches. gazeway memory list shows the newest.')
      else if (total > results.length) note(`… of ${total} that match`)
      return
    }
    const more = LISTED + 1
    const pages = await Promise.all([...project, null].map((one) => newestOf(store, { namespace, project: one }, more)))
    const newestFirst = pages.flat().sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
    for (const item of newestFirst.slice(0, LISTED)) print(item, textOf(item.value))
    if (newestFirst.length === 0)
      note('There are no memories here. gazeway project list shows the projects that have some.')
    if (newestFirst.length >= more)
      note(`These are the newest ${LISTED}. gazeway memory search finds others, and gazeway memory export prints all.`)
  })
}

/** Prints a whole memory as JSON. @throws GazewayError `not_found` */
export function showMemory(loaded: LoadedConfig, key: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    process.stdout.write(
      `${JSON.stringify(await recalled(memory, key, await projectsIn(projects, flags), flags), null, 2)}\n`,
    )
  })
}

/** Deletes a memory with all its versions. @throws GazewayError `not_found` */
export function deleteMemory(loaded: LoadedConfig, key: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    const { namespace = 'default' } = flags
    const places = (await deletedIn(projects, flags)).map((project) => ({ key, namespace, project }))
    const { project } = await forgetFirst(memory, places)
    process.stdout.write(`Deleted ${plain(key)} of ${named(project)}, with all its versions.\n`)
  })
}

/** Deletes all memories with a tag. With the tag of a session, a memory that was there before is as it was then. */
export function deleteTagged(loaded: LoadedConfig, tag: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (_memory, projects, store) => {
    const { namespace } = flags
    const now = () => new Date().toISOString()
    const of = await deletedIn(projects, flags)
    if (tag.startsWith(OF_SESSION)) {
      const scope = { space: SPACE, tag, namespace, projects: of }
      const { deleted, others } = await store.write((trx) => takeBack(trx, scope, now()))
      return printDeleted(deleted, others === 0 ? '' : ` ${others} others are as they were without the session.`)
    }
    let deleted = 0
    for (const project of of)
      for (let found = TOGETHER; found === TOGETHER; ) {
        const ids = (await newestOf(store, { namespace, tag, project }, TOGETHER)).map(({ id }) => id)
        deleted += await store.write((trx) => removeMemories(trx, ids, { space: SPACE, now: now() }))
        found = ids.length
      }
    printDeleted(deleted)
  })
}

/** Stores the next version of a memory, which expires when it did before. @throws GazewayError `not_found` */
export function editMemory(loaded: LoadedConfig, key: string, text: string, flags: MemoryFlags): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    const held = await recalled(memory, key, await projectsIn(projects, flags), flags)
    const { namespace, project, version, expires_at } = held
    const ttl_seconds = expires_at === null ? undefined : secondsUntil(expires_at)
    const input = parseInput(MemoryInput, { key, value: text, namespace, project, ttl_seconds, if_version: version })
    const stored = await memory.store(input)
    process.stdout.write(`Stored ${plain(key)} as version ${stored.memory.version}.\n`)
  })
}

/** Moves a memory with all its versions to another project. @throws GazewayError `not_found`, `conflict` */
export function moveMemory(loaded: LoadedConfig, key: string, flags: MemoryFlags & { to: string }): Promise<void> {
  return onMemories(loaded, async (memory, projects) => {
    const { namespace, project } = await recalled(memory, key, await projectsIn(projects, flags), flags)
    const to = flags.to === NONE ? null : await projects.named(flags.to)
    await memory.move({ key, namespace, project }, to)
    process.stdout.write(`Moved ${plain(key)} from ${named(project)} to ${named(to)}.\n`)
  })
}

async function recalled(
  memory: Memories,
  key: string,
  project: readonly string[],
  { namespace = 'default', project: of }: MemoryFlags,
): Promise<Memory> {
  const found = await memory.recall({ key, namespace, project })
  // A recall goes on to the memories of no project, which a named project does not mean.
  if (found.memory && (of === undefined || found.memory.project === (project[0] ?? null))) return found.memory
  if (found.superseded_by !== null)
    throw new GazewayError('not_found', `The memory ${key} was superseded by ${found.superseded_by}: name that.`, {
      param: 'key',
    })
  const where = of === undefined || of === NONE ? '' : ` of the project ${project[0]}`
  const other = found.memory ? ' There is one of no project: --project none.' : ''
  const message = `There is no memory ${key}${where}.${other} gazeway memory list shows those that there are.`
  throw new GazewayError('not_found', message, { param: 'key' })
}

/** Reads the newest memories of one project, or of none. */
async function newestOf(
  store: Store,
  of: Pick<RecentQuery, 'namespace' | 'tag' | 'project'>,
  most: number,
): Promise<Memory[]> {
  const found: Memory[] = []
  const now = new Date().toISOString()
  // A page of large memories has fewer than its limit.
  for (let cursor: string | null | undefined; cursor !== null && found.length < most; ) {
    const query = { ...of, cursor, limit: most - found.length, counted: false }
    const page = await recentMemories(store, SPACE, query, now)
    found.push(...page.items)
    cursor = page.next_cursor
  }
  return found
}

/** Deletes the memory at the first place that has one, and returns it. @throws GazewayError `not_found` */
async function forgetFirst(memory: Memories, [place, ...others]: readonly MemoryAddress[]): Promise<Memory> {
  if (place === undefined) throw new GazewayError('not_found', 'There is no such memory.', { param: 'key' })
  try {
    return await memory.forget(place)
  } catch (error) {
    if (others.length === 0 || !(error instanceof GazewayError) || error.code !== 'not_found') throw error
    return forgetFirst(memory, others)
  }
}

/** Projects whose memories are meant. @throws GazewayError `not_found` for a named one without memories */
async function projectsIn(projects: Projects, { project }: MemoryFlags): Promise<string[]> {
  if (project === undefined) {
    const here = await projects.at([process.cwd()])
    const proposal = await proposalNote(projects, process.cwd())
    if (proposal !== null) note(proposal)
    return here
  }
  if (project === NONE) return []
  const named = await projects.named(project)
  // Any folder can be named; one without memories is more often a mistake.
  if ((await projects.memoriesOf(named, 1)) > 0) return [named]
  const message = `The project ${named} has no memories. gazeway project list shows the projects that have some.`
  throw new GazewayError('not_found', message, { param: 'project' })
}

/** Projects whose memories are deleted: the named one alone, or this folder's and none. */
async function deletedIn(projects: Projects, flags: MemoryFlags): Promise<Array<string | null>> {
  const of = await projectsIn(projects, flags)
  return flags.project === undefined || of.length === 0 ? [...of, null] : of
}

const named = (project: string | null): string => (project === null ? 'no project' : plain(project))

const printDeleted = (deleted: number, more = ''): void => {
  process.stdout.write(`Deleted ${deleted} memories with all their versions.${more}\n`)
}

/** At least 1. */
const secondsUntil = (at: string): number => Math.max(1, Math.ceil((Date.parse(at) - Date.now()) / 1000))

/** Says something about a list, apart from its lines. */
const note = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

const print = ({ key, namespace, project, version }: Memory, text: string): void => {
  const line = `${namespace}/${key}  version ${version}  ${project ?? 'no project'}  ${text.slice(0, SHOWN)}`
  process.stdout.write(`${plain(line.replaceAll('\n', ' '))}\n`)
}

async function onMemories(
  loaded: LoadedConfig,
  work: (memory: Memories, projects: Projects, store: Store) => Promise<void>,
): Promise<void> {
  requireStore(loaded)
  const store = await openStore(loaded.storeUrl)
  try {
    const memory = createMemory({ store, now: () => new Date(), secrets: () => loaded.config.memory.secrets })
    await work(memory, createProjects(store), store)
  } finally {
    await store.close()
  }
}
