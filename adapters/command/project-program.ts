import type { Command } from 'commander'
import type { LoadedConfig } from '../../src/config/config.ts'

const EXAMPLES = `
A project is recognized by its git repository in linked worktrees and after a move. A second clone is proposed, and joins
once you trust it. PROJECT is a folder, or a name from the list.

Examples:
  $ gazeway project trust                        this folder is another copy of the project that is proposed
  $ gazeway project merge ~/old-clone ~/shop     put the memories of one project into another
  $ gazeway project move /old/notes ~/notes      a folder without git has moved
  $ gazeway project init                         let copies of a folder without git be recognized`

/** Adds `gazeway project` with its commands. */
export function addProjectCommands(program: Command, start: () => Promise<{ loaded: LoadedConfig }>): void {
  const project = program
    .command('project')
    .description('list, trust, join and move the projects that memories are about')
    .addHelpText('after', EXAMPLES)
  const load = () => import('./project-command.ts')
  project
    .command('list')
    .description('list projects with their memories and folders')
    .action(async () => (await load()).listProjects((await start()).loaded))
  project
    .command('trust')
    .description('make a folder a place of the project that is proposed for it')
    .argument('[folder]', 'folder', '.')
    .action(async (folder: string) => (await load()).trustProject((await start()).loaded, folder))
  project
    .command('merge')
    .description('put the memories and folders of a project into another')
    .argument('<project>', 'project to end')
    .argument('<into>', 'project that gets them')
    .action(async (from: string, into: string) => (await load()).mergeProjects((await start()).loaded, from, into))
  project
    .command('move')
    .description('make a folder a place of a project')
    .argument('<project>', 'project')
    .argument('[folder]', 'folder', '.')
    .action(async (name: string, folder: string) => (await load()).moveProject((await start()).loaded, name, folder))
  project
    .command('init')
    .description('write .gazeway/project, by which copies of a folder are recognized')
    .argument('[folder]', 'folder', '.')
    .action(async (folder: string) => (await load()).initProject((await start()).loaded, folder))
}
