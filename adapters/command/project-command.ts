import { join } from 'node:path'
import type { LoadedConfig } from '../../src/config/config.ts'
import { ID_FILE } from '../../src/projects/project-folder.ts'
import { createProjects, type JoinedProject, type Projects } from '../../src/projects/projects.ts'
import { openStore } from '../../src/store/open-store.ts'
import { plain } from '../../src/text/single-line.ts'
import { requireStore } from './require-store.ts'

/** Lists the projects that have memories or a known folder. */
export function listProjects(loaded: LoadedConfig): Promise<void> {
  return onProjects(loaded, async ({ list }) => {
    for (const { project, memories, places } of await list()) {
      print(`${project}  memories: ${memories}`)
      for (const { path, proposed, isGone } of places) {
        const may = proposed === null ? '' : `  looks like ${proposed}: gazeway project trust ${path}`
        print(`  ${path}${isGone ? '  gone' : ''}${may}`)
      }
    }
  })
}

/** Makes a folder a place of the project that is proposed for it. @throws GazewayError `not_found` */
export const trustProject = (loaded: LoadedConfig, folder: string): Promise<void> =>
  onProjects(loaded, async ({ trust }) => report(await trust(folder)))

/** Puts the memories and folders of a project into another. @throws GazewayError `not_found`, `conflict` */
export const mergeProjects = (loaded: LoadedConfig, from: string, into: string): Promise<void> =>
  onProjects(loaded, async ({ merge }) => report(await merge(from, into)))

/** Makes a folder a place of a project. @throws GazewayError `not_found` */
export const moveProject = (loaded: LoadedConfig, project: string, folder: string): Promise<void> =>
  onProjects(loaded, async ({ move }) => report(await move(project, folder)))

/** Writes the id file of a folder. @throws GazewayError `not_found`, `conflict` */
export function initProject(loaded: LoadedConfig, folder: string): Promise<void> {
  return onProjects(loaded, async ({ init }) => {
    const { path, project } = await init(folder)
    print(`Wrote ${join(path, ID_FILE)}. Copies of this folder are recognized as the project ${project}.`)
  })
}

function report({ project, from, moved, kept }: JoinedProject): void {
  print(`This is the project ${project} now. Memories moved: ${moved}.`)
  if (kept.length === 0) return
  print(`It has these keys too, each as NAMESPACE/KEY, so they stay in ${from}: ${kept.join(', ')}.`)
  const remove = 'gazeway memory delete KEY --namespace NAMESPACE --project'
  print(`To keep one of ${from}: ${remove} ${project}, then gazeway project merge ${from} ${project}`)
  print(`To keep one of ${project}: ${remove} ${from}`)
}

const print = (line: string): void => void process.stdout.write(`${plain(line)}\n`)

async function onProjects(loaded: LoadedConfig, work: (projects: Projects) => Promise<void>): Promise<void> {
  requireStore(loaded)
  const store = await openStore(loaded.storeUrl)
  try {
    await work(createProjects(store))
  } finally {
    await store.close()
  }
}
