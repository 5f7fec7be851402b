import { randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { ProjectPlaceRow } from '../store/tables/projects-tables.ts'
import { type Evidence, isSameGit, readEvidence, stampOf } from './evidence.ts'
import { exists, nameOf } from './project-folder.ts'

/**
 * Finds or creates the place of a project's folder. A folder that was not seen before is
 *
 * 1. a place of the project with the same common directory of git (a linked worktree)
 * 2. the place of a project with the same root commit and remote whose other places are all gone (a moved folder)
 * 3. else a project of its own. One with the same root commit and no other remote, or with the same id file, is proposed
 *
 * A folder without any evidence is not recorded.
 */
export async function placeOf(store: Store, path: string): Promise<ProjectPlaceRow> {
  const known = await findPlace(store.db, path)
  if (known && (await isCurrent(known))) return known
  const { main, ...evidence } = await readEvidence(path)
  if (known && !isOther(known, evidence)) {
    await store.db.updateTable('project_places').set(evidence).where('path', '=', path).execute()
    return { ...known, ...evidence }
  }
  if (!known && evidence.common_dir === null && evidence.file_id === null) {
    // Most folders of no repository: their calls only read.
    const named = await recognize(store.db, { path, main, evidence })
    if (named.project === nameOf(path)) return { ...evidence, path, ...named }
  }
  return store.write(async (trx) => {
    if (known) await retire(trx, known)
    const named = await recognize(trx, { path, main, evidence })
    const isFree = known && (await isAllGone(trx, known.project))
    const place = { ...evidence, path, ...named, proposed: named.proposed ?? (isFree ? known.project : null) }
    const isPlain = evidence.common_dir === null && evidence.file_id === null && place.project === nameOf(path)
    if (isPlain) return place
    await trx
      .insertInto('project_places')
      .values(place)
      .onConflict((on) => on.column('path').doNothing())
      .execute()
    return (await findPlace(trx, path)) ?? place
  })
}

/** Finds the place of a folder that was seen before. */
export const findPlace = (db: Kysely<Schema>, path: string): Promise<ProjectPlaceRow | undefined> =>
  db.selectFrom('project_places').selectAll().where('path', '=', path).executeTakeFirst()

/** Tells whether nothing is left where a place was seen. */
export const isGone = async ({ path, common_dir }: ProjectPlaceRow): Promise<boolean> =>
  !(await exists(common_dir ?? path))

/** Tells whether the evidence need not be read again. A repository without a first commit can get one at any time. */
async function isCurrent({ path, common_dir, root_commit, stamp }: ProjectPlaceRow): Promise<boolean> {
  if (common_dir !== null && root_commit === null) return false
  return stamp === (await stampOf(path, common_dir))
}

/** Tells whether another repository is now where a place was seen. */
function isOther(known: ProjectPlaceRow, { common_dir, root_commit, remote, stamp }: Omit<Evidence, 'main'>): boolean {
  if (known.root_commit === null || common_dir === null || isSameGit(known.stamp, stamp)) return false
  return known.root_commit !== root_commit && !(remote !== null && remote === known.remote)
}

/** Keeps a place whose repository has gone from its path, so that it is recognized where it went. */
async function retire(db: Kysely<Schema>, { path, root_commit }: ProjectPlaceRow): Promise<void> {
  const gone = { path: `${path}#${root_commit}`, common_dir: null }
  await db.deleteFrom('project_places').where('path', '=', gone.path).execute()
  await db.updateTable('project_places').set(gone).where('path', '=', path).execute()
}

async function recognize(
  db: Kysely<Schema>,
  { path, main, evidence }: { path: string; main: string; evidence: Omit<Evidence, 'main'> },
): Promise<Pick<ProjectPlaceRow, 'project' | 'proposed'>> {
  const { common_dir, root_commit, remote, file_id, stamp } = evidence
  const by = async (column: 'common_dir' | 'root_commit' | 'file_id', value: string | null) =>
    value === null ? [] : db.selectFrom('project_places').selectAll().where(column, '=', value).execute()
  const [worktree] = (await by('common_dir', common_dir)).filter((place) => isSameGit(place.stamp, stamp))
  if (worktree) return { project: worktree.project, proposed: worktree.proposed }
  const alike = await by('root_commit', root_commit)
  const same = alike.filter((place) => place.remote === remote)
  for (const { project } of same) if (await isAllGone(db, project)) return { project, proposed: null }
  const uncertain = alike.filter((place) => place.remote === null || remote === null)
  const [like] = [...same, ...uncertain, ...(await by('file_id', file_id))]
  return { project: await freeName(db, { path, main, root_commit }), proposed: like?.project ?? null }
}

async function isAllGone(db: Kysely<Schema>, project: string): Promise<boolean> {
  const places = await db.selectFrom('project_places').selectAll().where('project', '=', project).execute()
  return !(await Promise.all(places.map(isGone))).includes(false)
}

/** A project's name: its path, unless a project that has moved away has that. */
async function freeName(
  db: Kysely<Schema>,
  { path, main, root_commit }: { path: string; main: string; root_commit: string | null },
): Promise<string> {
  const name = nameOf(main)
  const taken = await db
    .selectFrom('project_places')
    .select('path')
    .where('project', '=', name)
    .where('path', '!=', path)
    .executeTakeFirst()
  return taken ? nameOf(`${main}#${root_commit ?? randomBytes(20).toString('hex')}`) : name
}
