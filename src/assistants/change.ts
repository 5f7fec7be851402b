import { existsSync, lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { GazewayError } from '../errors.ts'
import type { Assistant, Launch, Machine, Scope } from './assistant.ts'
import { bytesOf, type ConfigFile, readConfigFile, writeConfigFile } from './config-file.ts'
import type { Format, Source } from './format.ts'
import { isSame, json, jsonc } from './json-format.ts'
import { isLaunchedAs, isOwn } from './launch.ts'
import { toml } from './toml-format.ts'

/** What a file held before Gazeway's entry came into it. */
const BEFORE = '.before-gazeway'
/** What a file held while the entry was in it. */
const WITH = '.with-gazeway'

const FORMATS: Readonly<Record<Assistant['format'], Format>> = { json, jsonc, toml }

/** A change of one assistant's file that is not made yet. */
export interface Change {
  path: string
  /** The text of the file; empty where there is none. */
  before: string
  /** The text that it will have; null: it goes. */
  after: string | null
  /** Whether there is a file. */
  isThere: boolean
  /** Where the content before is kept; null where there is none to keep. */
  backup: string | null
  /**
   * Makes it, as a whole or not at all.
   *
   * @throws GazewayError `conflict` when the file is not as it was read, `store_unavailable`, `store_full`
   */
  make(): Promise<void>
}

/** What an entry is to say. */
export interface Wanted {
  launch: Launch
  /** Variables that are handed on, by name. */
  variables: readonly string[]
  /** Whether they were asked for: then an entry with others is changed. */
  areChosen: boolean
}

/** Whether an assistant has left its traces, or its command is on the search path. */
export function isInstalled(assistant: Assistant, machine: Machine): boolean {
  if (assistant.traces(machine).some((path) => existsSync(path))) return true
  const suffixes = machine.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : ['']
  const folders = (machine.env.PATH ?? '').split(machine.platform === 'win32' ? ';' : ':').filter((path) => path !== '')
  return folders.some((folder) => suffixes.some((suffix) => existsSync(join(folder, assistant.command + suffix))))
}

/** A file of an assistant that the entry may be in. */
export interface Target {
  assistant: Assistant
  path: string
  /** The project that the file is in; undefined for a person's own. */
  within: string | undefined
}

/** The files of an assistant that are there, else the one that it would have; none where it has none in a project. */
export function targetsOf(assistant: Assistant, scope: Scope, machine: Machine): readonly Target[] {
  const { project } = machine
  const paths =
    scope === 'user' ? assistant.userFiles(machine) : (assistant.projectFiles ?? []).map((path) => join(project, path))
  const present = paths.filter((path) => existsSync(path) || isLink(path))
  const within = scope === 'user' ? undefined : project
  return (present.length > 0 ? present : paths.slice(0, 1)).map((path) => ({ assistant, path, within }))
}

/** One that leads nowhere is there, too. */
const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false

/**
 * The change that puts the entry into a file; null where it is there.
 *
 * @throws GazewayError `config_invalid` for a file that is not valid or a link, `conflict` where another server has the name
 */
export function setupChange(
  { assistant, path, within }: Target,
  { launch, variables, areChosen }: Wanted,
): Change | null {
  const format = FORMATS[assistant.format]
  const file = readConfigFile(path, within)
  const source = sourceOf(assistant, file)
  const entry = assistant.entry(launch, variables)
  const present = format.read(source)
  if (present !== undefined) {
    requireOwn(present, path)
    if (isSame(present, entry) || (!areChosen && isLaunchedAs(present, entry))) return null
  }
  const after = format.put(source, entry)
  return change(file, after, present === undefined ? BEFORE : WITH, within)
}

/** Whether the entry is in a file. @throws as {@link setupChange} */
export function hasEntry({ assistant, path, within }: Target): boolean {
  return FORMATS[assistant.format].read(sourceOf(assistant, readConfigFile(path, within))) !== undefined
}

/**
 * The change that takes the entry out of a file, which is then what it was; null where there is none.
 *
 * @throws GazewayError as {@link setupChange}
 */
export function removeChange({ assistant, path, within }: Target): Change | null {
  const format = FORMATS[assistant.format]
  const file = readConfigFile(path, within)
  const source = sourceOf(assistant, file)
  const present = format.read(source)
  if (present === undefined) return null
  requireOwn(present, path)
  const entry = present as Record<string, unknown>
  const before = readConfigFile(path + BEFORE, within)
  if (before.bytes === null && format.put({ ...source, text: '' }, entry) === source.text)
    return change(file, null, null, within)
  if (isWhatItWas(before, file, (text) => format.put({ ...source, text }, entry)))
    return withoutBackup(before.path, change(file, before.text, WITH, within))
  const hadServers = before.bytes !== null && hasServers(format, { ...source, text: before.text })
  return change(file, format.take(source, hadServers ? 'kept' : 'taken'), WITH, within)
}

/** A change that makes a backup superfluous: the file is what the backup is. */
const withoutBackup = (backup: string, made: Change): Change => ({
  ...made,
  async make() {
    await made.make()
    rmSync(backup, { force: true })
  },
})

/** Whether a backup with the entry is the file as it is: then nobody has changed anything else in it. */
function isWhatItWas(before: ConfigFile, file: ConfigFile, put: (text: string) => string): boolean {
  if (before.bytes === null || before.hasBom !== file.hasBom) return false
  try {
    return put(before.text) === file.text
  } catch (error) {
    if (error instanceof GazewayError) return false
    throw error
  }
}

function hasServers(format: Format, source: Source): boolean {
  try {
    return format.hasServers(source)
  } catch (error) {
    if (error instanceof GazewayError) return false
    throw error
  }
}

const sourceOf = ({ servers }: Assistant, { path, text }: ConfigFile): Source => ({ file: path, text, servers })

/** @throws GazewayError `conflict` */
function requireOwn(entry: unknown, path: string): void {
  if (isOwn(entry)) return
  throw new GazewayError(
    'conflict',
    `${path}: a server with the name gazeway is there, and it starts something else. Give it another name; nothing was changed.`,
  )
}

function change(file: ConfigFile, after: string | null, suffix: string | null, within: string | undefined): Change {
  const { path, bytes, text } = file
  const backup = bytes === null || suffix === null ? null : path + suffix
  return {
    path,
    before: text,
    after,
    isThere: bytes !== null,
    backup,
    make: () => writeConfigFile(file, after === null ? null : bytesOf(file, after), { backup, within }),
  }
}
