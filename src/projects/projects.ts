import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Kysely, Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import { type MovedMemories, moveMemories } from '../memory/memory.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { ProjectPlaceRow } from '../store/tables/projects-tables.ts'
import { readId } from './evidence.ts'
import { createFolderProjects } from './folder-projects.ts'
import { exists, ID_FILE, nameOf, projectFolder, upwards } from './project-folder.ts'
import { findPlace, isGone, placeOf } from './project-places.ts'

/** The operator's space of memories, which projects are about. */
const SPACE = 0
/** A folder of a project, as others see it. */
export type ProjectPlace = Pick<ProjectPlaceRow, 'path' | 'project' | 'proposed' | 'parent'>

/** A project with its memories counted. */
export interface ListedProject {
  project: string
  memories: number
  places: Array<{ path: string; proposed: string | null; isGone: boolean }>
}

/** Result of joining projects: the project that holds the memories now, and the one that had them. */
export type JoinedProject = MovedMemories & { project: string; from: string }

/**
 * The projects that memories are about. A project has the name of the path where it was seen first, and keeps it
 * wherever its folder goes.
 */
export interface Projects {
  /**
   * Returns the names of the projects whose memories are read in some folders, each project before the checkouts that
   * it is a submodule of. What is stored belongs to the first. The answer is at most a second old, and never older than
   * a change by this service. A folder that has gone is of the project that it was of last.
   */
  at(folders: readonly string[]): Promise<string[]>
  /** Returns the place of a folder; null for one that is no project. Records a repository that was not seen before. */
  of(folder: string): Promise<ProjectPlace | null>
  /**
   * Returns the name of a project, of which a folder or the name itself is given. A name whose folders have joined another
   * project is meant as long as it has memories.
   *
   * @throws GazewayError `not_found`
   */
  named(folderOrName: string): Promise<string>
  /** Counts a project's memories, up to `limit`. */
  memoriesOf(project: string, limit: number): Promise<number>
  /** Lists the projects that have memories or a known folder, by name. */
  list(): Promise<ListedProject[]>
  /** Writes an id file into a folder. @throws GazewayError `conflict` when there is one; `not_found` */
  init(folder: string): Promise<ProjectPlace>
  /** Makes a folder a place of the project that was proposed for it. @throws GazewayError `not_found` */
  trust(folder: string): Promise<JoinedProject>
  /** Moves the memories and places of a project into another. @throws GazewayError `not_found`, `conflict` */
  merge(from: string, into: string): Promise<JoinedProject>
  /** Makes a folder a place of a project. @throws GazewayError `not_found` */
  move(project: string, folder: string): Promise<JoinedProject>
}

/**
 * Creates the service of a store's projects.
 *
 * @param elapsedMs monotonic clock in milliseconds
 */
export function createProjects(store: Store, elapsedMs = () => performance.now()): Projects {
  const { db } = store
  async function change<T>(work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
    try {
      return await store.write(work)
    } finally {
      cached.forget()
    }
  }

  async function of(folder: string): Promise<ProjectPlaceRow | null> {
    const path = await projectFolder(folder)
    return path === null ? null : placeOf(store, path)
  }

  const cached = createFolderProjects(async (folder) => (await of(folder)) ?? goneAt(db, folder), elapsedMs)

  async function existing(folder: string): Promise<ProjectPlaceRow> {
    const place = await of(folder)
    if (place) return place
    throw new GazewayError('not_found', `${folder} is no folder of a project.`, { param: 'folder' })
  }

  async function named(folderOrName: string): Promise<string> {
    const place = await of(folderOrName)
    if (place && !(await isLeftOver(db, folderOrName, place))) return place.project
    if (await isKnown(db, folderOrName)) return folderOrName
    throw unknownProject(folderOrName)
  }

  /** Joins two projects and records their folders: one without evidence would lose its name to a folder that joins it. */
  const join = (places: ReadonlyArray<ProjectPlaceRow | null>, from: string, into: string) =>
    change(async (trx) => {
      for (const place of places) if (place && [from, into].includes(place.project)) await record(trx, place)
      return joinProjects(trx, from, into)
    })

  return {
    at: cached.at,
    of,
    named,
    memoriesOf: (project, limit) => countMemories(db, project, limit),
    list: () => listProjects(db),
    async init(folder) {
      const place = await existing(folder)
      await writeId(place.path)
      const file_id = await readId(place.path)
      await change((trx) => record(trx, { ...place, file_id }))
      return { ...place }
    },
    async trust(folder) {
      const { project, proposed } = await existing(folder)
      if (proposed !== null) return change((trx) => joinProjects(trx, project, proposed))
      throw new GazewayError('not_found', `No other project is proposed for ${folder}; it is ${project}.`, {
        param: 'folder',
      })
    },
    async merge(from, into) {
      const [source, target] = [await named(from), await named(into)]
      if (source === target)
        throw new GazewayError('conflict', `${from} and ${into} are the project ${target} already.`, { param: 'into' })
      return join([await of(from), await of(into)], source, target)
    },
    async move(project, folder) {
      const [target, place] = [await named(project), await existing(folder)]
      return join([place, await of(project)], place.project, target)
    },
  }
}

const unknownProject = (name: string): GazewayError =>
  new GazewayError('not_found', `There is no project ${name}. gazeway project list shows those that there are.`, {
    param: 'project',
  })

/**
 * Finds the project of a folder that was removed or moved while somebody works in it, such as a linked worktree. Without one,
 * what is stored there would be of no project, and so of all.
 */
async function goneAt(db: Kysely<Schema>, folder: string): Promise<Pick<ProjectPlaceRow, 'project' | 'parent'> | null> {
  if (await exists(folder)) return null
  for (const path of upwards(resolve(folder))) {
    const place = await findPlace(db, path)
    if (place) return place
  }
  const project = nameOf(resolve(folder))
  return (await isKnown(db, project)) ? { project, parent: null } : null
}

const countMemories = async (db: Kysely<Schema>, project: string, limit: number): Promise<number> => {
  const query = db.selectFrom('memories').select('id').where('space', '=', SPACE).where('project', '=', project)
  return (await query.limit(limit).execute()).length
}

/** Tells whether a project has memories or a folder. */
const isKnown = async (db: Kysely<Schema>, project: string): Promise<boolean> =>
  (await countMemories(db, project, 1)) > 0 || (await hasPlace(db, project))

async function hasPlace(db: Kysely<Schema>, project: string): Promise<boolean> {
  const seen = db.selectFrom('project_places').select('path').where('project', '=', project).limit(1)
  return (await seen.executeTakeFirst()) !== undefined
}

/**
 * Tells whether a name is that of a project whose folders have joined another, and which still has the memories whose keys
 * that had too.
 */
const isLeftOver = async (db: Kysely<Schema>, name: string, { project }: ProjectPlaceRow): Promise<boolean> =>
  project !== name && (await countMemories(db, name, 1)) > 0 && !(await hasPlace(db, name))

/** Moves the memories and places of a project into another. */
async function joinProjects(trx: Transaction<Schema>, from: string, into: string): Promise<JoinedProject> {
  const moved = from === into ? { moved: 0, kept: [] } : await moveMemories(trx, { space: SPACE, from, to: into })
  await trx.updateTable('project_places').set({ project: into }).where('project', '=', from).execute()
  await trx
    .updateTable('project_places')
    .set({ proposed: null })
    .where('project', '=', into)
    .where((is) => is.or([is('proposed', '=', into), is('proposed', '=', from)]))
    .execute()
  await trx.updateTable('project_places').set({ proposed: into }).where('proposed', '=', from).execute()
  return { project: into, from, ...moved }
}

/** Records a place that has no evidence of its own, because a person has decided about it. */
async function record(trx: Transaction<Schema>, place: ProjectPlaceRow): Promise<void> {
  if (await findPlace(trx, place.path))
    await trx.updateTable('project_places').set(place).where('path', '=', place.path).execute()
  else await trx.insertInto('project_places').values(place).execute()
}

async function listProjects(db: Kysely<Schema>): Promise<ListedProject[]> {
  const counts = await db
    .selectFrom('memories')
    .select(['project', ({ fn }) => fn.countAll<number>().as('count')])
    .where('space', '=', SPACE)
    .where('project', 'is not', null)
    .groupBy('project')
    .execute()
  const memories = new Map(counts.map(({ project, count }) => [project as string, Number(count)]))
  const places = await db.selectFrom('project_places').selectAll().orderBy('path').execute()
  const names = new Set([...memories.keys(), ...places.map(({ project }) => project)])
  return Promise.all(
    [...names].sort().map(async (project) => ({
      project,
      memories: memories.get(project) ?? 0,
      places: await Promise.all(
        places
          .filter((place) => place.project === project)
          .map(async (place) => ({ path: place.path, proposed: place.proposed, isGone: await isGone(place) })),
      ),
    })),
  )
}

async function writeId(folder: string): Promise<void> {
  const file = join(folder, ID_FILE)
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `prj_${randomUUID().replaceAll('-', '')}\n`, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new GazewayError(
      'conflict',
      `${file} exists already. To trust the project that it names: gazeway project trust`,
      {
        param: 'folder',
      },
    )
  }
}
