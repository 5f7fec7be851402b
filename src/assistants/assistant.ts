import { posix, win32 } from 'node:path'
import type { Environment } from '../config/environment.ts'

/** The machine that assistants are installed on, and the project that a person works on. */
export interface Machine {
  platform: NodeJS.Platform
  home: string
  env: Environment
  /** Absolute path. */
  project: string
}

/** Scope of an entry: all projects of a person, or everyone who works on one project. */
export type Scope = 'user' | 'project'

/** The command that starts the tool server. */
export interface Launch {
  command: string
  args: readonly string[]
}

/** A non-empty list of paths. */
export type Paths = readonly [string, ...string[]]

/**
 * A coding assistant known by name. To add one, write a file with such a record and a line in `assistants.ts`. The
 * commands `setup` and `remove`, their help and `docs/reference/assistants.md` are derived from it.
 */
export interface Assistant {
  /** Its name on the command line. */
  name: string
  /** Display name. */
  label: string
  /** The command that starts it from a terminal. */
  command: string
  /** Files and folders of an installation; one of them is enough to detect it. */
  traces(machine: Machine): readonly string[]
  /** Configuration files of a person. The first that exists is used, otherwise the first. */
  userFiles(machine: Machine): Paths
  /** Configuration files of a project, relative to it. Null when it has none. */
  projectFiles: Paths | null
  /** File format. `json` takes no comments. */
  format: 'json' | 'jsonc' | 'toml'
  /** The field of the file that holds the MCP servers by name. */
  servers: string
  /** Entry that starts Gazeway. `variables` are passed on by name, never by value. */
  entry(launch: Launch, variables: readonly string[]): Record<string, unknown>
  /**
   * Path of a variable to the server, for `docs/reference/assistants.md`: a reference in the entry, or inheritance from
   * the assistant.
   */
  handsOn: string
  /** The assistant's page about MCP servers. */
  source: string
  /** The day that this record was written. */
  date: string
}

/** The entry of assistants that name the transport, and refer to variables as `${env:NAME}`. */
export const stdioEntry: Assistant['entry'] = ({ command, args }, variables) => ({
  type: 'stdio',
  command,
  args,
  env: references(variables, (name) => `\${env:${name}}`),
})

/** Joins paths as the machine does. */
export const joined = ({ platform }: Machine, ...parts: string[]): string =>
  (platform === 'win32' ? win32 : posix).join(...parts)

/** A path in the home folder. */
export const inHome = (machine: Machine, ...parts: string[]): string => joined(machine, machine.home, ...parts)

/** Folder named by an environment variable. Undefined when unset. */
export const named = ({ env }: Machine, variable: string): string | undefined => env[variable]?.trim() || undefined

/** The folder of an application's settings, as VS Code and Zed have it on Windows. */
export const appData = (machine: Machine): string => named(machine, 'APPDATA') ?? inHome(machine, 'AppData', 'Roaming')

/** The folder of a person's configuration (XDG base directory specification). */
export const configHome = (machine: Machine): string => named(machine, 'XDG_CONFIG_HOME') ?? inHome(machine, '.config')

/** Variables of an entry, each with the reference that the assistant expands. */
export const references = (variables: readonly string[], refer: (name: string) => string): Record<string, string> =>
  Object.fromEntries(variables.map((name) => [name, refer(name)]))
