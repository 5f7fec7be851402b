import { existsSync, lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { GazewayError } from '../errors.ts'
import { type Assistant, joined, type Launch, type Machine, type Scope } from './assistant.ts'
import { bytesOf, type ConfigFile, readConfigFile, writeConfigFile } from './config-file.ts'
import type { Format, Source } from './format.ts'
import { isSame, json, jsonc } from './json-format.ts'
import { isOwn } from './launch.ts'
import { toml } from './toml-format.ts'

/** Suffix of the backup from before Gazeway's entry was added. */
const BEFORE = '.before-gazeway'
/** Suffix of the copy with the entry in it. */
const WITH = '.with-gazeway'

const FORMATS: Readonly<Record<Assistant['format'], Format>> = { json, jsonc, toml }

/** A pending change of one assistant's file. */
export interface Change {
  path: string
  /** Text of the file; empty when it does not exist. */
  before: string
  /** New text. Null deletes the file. */
  after: string | null
  /** True when the file exists. */
  isThere: boolean
  /** Path of the backup. Null without one. */
  backup: string | null
  /**
   * Applies the change, as a whole or not at all.
   *
   * @throws GazewayError `conflict` when the file has changed since it was read, `store_unavailable`, `store_full`
   */
  make(): Promise<void>
}

/** Desired entry. */
export interface Wanted {
  launch: Launch
  /** Variables to pass on, by name. */
  variables: readonly string[]
}

/** Tells whether an assistant is installed: it has left traces, or its command is on the search path. */
export function isInstalled(assistant: Assistant, machine: Machine): boolean {
  if (assistant.traces(machine).some((path) => existsSync(path))) return true
  const suffixes = machine.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : ['']
  const folders = (machine.env.PATH ?? '').split(machine.platform === 'win32' ? ';' : ':').filter((path) => path !== '')
  return folders.some((folder) => suffixes.some((suffix) => existsSync(join(folder, assistant.command + suffix))))
}

/** A file of an assistant that may contain the entry. */
export interface Target {
  assistant: Assistant
  path: string
  /** Project that contains the file. Undefined for a person's own. */
  within: string | undefined
}

/** Existing files of an assistant, otherwise the one it would use. Empty when it has none in a project. */
export function targetsOf(assistant: Assistant, scope: Scope, machine: Machine): readonly Target[] {
  const { project } = machine
  const paths =
    scope === 'user'
      ? assistant.userFiles(machine)
      : (assistant.projectFiles ?? []).map((path) => joined(machine, project, path))
  const present = paths.filter((path) => existsSync(path) || isLink(path))
  const within = scope === 'user' ? undefined : project
  return (present.length > 0 ? present : paths.slice(0, 1)).map((path) => ({ assistant, path, within }))
}

/** Includes dangling links. */
const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false

/**
 * Computes the change that adds the entry to a file. Null when the file has exactly this entry: additional arguments or
 * variables, such as `NODE_OPTIONS`, can make Gazeway another program.
 *
 * @throws GazewayError `config_invalid` for a file that is invalid or a link, `conflict` when another server has the
 *   name
 */
export function setupChange({ assistant, path, within }: Target, { launch, variables }: Wanted): Change | null {
  const format = FORMATS[assistant.format]
  const file = readConfigFile(path, within)
  const source = sourceOf(assistant, file)
  const entry = assistant.entry(launch, variables)
  const present = format.read(source)
  if (present !== undefined) {
    requireOwn(present, path)
    if (isSame(present, entry)) return null
  }
  const after = format.put(source, entry)
  return change(file, after, present === undefined ? BEFORE : WITH, within)
}

/**
 * Reads the entry in a file. Undefined when there is none.
 *
 * @throws as {@link setupChange}
 */
export function entryIn({ assistant, path, within }: Target): unknown {
  return FORMATS[assistant.format].read(sourceOf(assistant, readConfigFile(path, within)))
}

/**
 * Computes the change that removes the entry from a file and restores its earlier content. Null without an entry.
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

/** Extends a change to delete the backup, which then equals the file. */
const withoutBackup = (backup: string, made: Change): Change => ({
  ...made,
  async make() {
    await made.make()
    rmSync(backup, { force: true })
  },
})

/** Tells whether a backup plus the entry equals the file, so that nothing else was changed in it. */
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

/**
 * Requires that the entry is Gazeway's.
 *
 * @throws GazewayError `conflict`
 */
function requireOwn(entry: unknown, path: string): void {
  if (isOwn(entry)) return
  throw new GazewayError('conflict', `${path}: another server is named gazeway. Rename it; nothing was changed.`)
}

/** A change of a file that was read. @param suffix that of its backup; null for none */
export function change(
  file: ConfigFile,
  after: string | null,
  suffix: string | null,
  within: string | undefined,
): Change {
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
