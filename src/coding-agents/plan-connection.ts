import { existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Change, change } from '../assistants/change.ts'
import { bytesOf, type ConfigFile, readConfigFile, writeConfigFile } from '../assistants/config-file.ts'
import { makeFolder } from '../store/make-folder.ts'
import { replaceFile } from '../store/replace-file.ts'
import type { AgentFile } from './coding-agent.ts'
import { type ConnectedFile, sumOf } from './connection.ts'
import { SETTING_FORMATS } from './setting-format.ts'
import { undoSettings, writeSettings } from './write-settings.ts'

/** Suffix of the backup from before an agent was connected. */
const BACKUP = '.before-connect'

/** Path of the backup of a file. */
export const backupOf = (path: string): string => path + BACKUP

/** A planned change of a file, and how to undo it. */
export interface PlannedFile {
  /** Null when nothing changes. */
  change: Change | null
  /** The file once it is written. */
  connected: ConnectedFile
}

/** A planned return to the file from before. */
export interface PlannedUndo {
  /** Null when nothing changes. */
  change: Change | null
  path: string
  /** True when the file was edited since, so that its settings are removed one by one. */
  isEdited: boolean
  /** Settings that stay, because they have another value by now. */
  staying: string[]
}

/** Text of a file without the settings of a connection. */
interface Base {
  text: string
  isThere: boolean
  isEdited: boolean
  staying: string[]
}

/**
 * Plans to write settings into a file.
 *
 * @param file as it was read, also where it is shown before it is written
 * @param earlier the same file as it was connected before, whose settings are replaced
 * @throws GazewayError `config_invalid` for an invalid file, `conflict` for a setting that occurs twice
 */
export function planFile(
  { path, format, settings, holdsKey }: AgentFile,
  file: ConfigFile,
  within: string | undefined,
  earlier: ConnectedFile | undefined,
): PlannedFile {
  const base = baseOf(file, within, earlier)
  const { text, written } = writeSettings(SETTING_FORMATS[format], { file: path, text: base.text }, settings)
  const before = base.isThere ? bytesOf(file, base.text) : null
  const connected: ConnectedFile = {
    path,
    format,
    after: sumOf(bytesOf(file, text)),
    before: before && sumOf(before),
    settings: written,
  }
  if (file.bytes !== null && text === file.text) return { change: null, connected }
  const made = change(file, text, null, within)
  const backup = before && backupOf(path)
  const make = async () => {
    if (backup && before) {
      makeFolder(dirname(path))
      await replaceFile(backup, before)
    }
    await writeConfigFile(file, bytesOf(file, text), { backup: null, within, isPrivate: holdsKey === true })
  }
  return { change: { ...made, backup, make }, connected }
}

/**
 * Plans to undo a connection in a file: to what it was, byte for byte, where nothing else was changed, otherwise setting
 * by setting.
 *
 * @throws as {@link planFile}
 */
export function planUndo(connected: ConnectedFile, within: string | undefined): PlannedUndo {
  const { path } = connected
  const file = readConfigFile(path, within)
  const base = baseOf(file, within, connected)
  const { isEdited, staying } = base
  const isSame = file.bytes === null || (base.isThere && base.text === file.text)
  const undo = isSame ? null : change(file, base.isThere ? base.text : null, null, within)
  const make = async () => {
    await undo?.make()
    if (!isEdited) rmSync(backupOf(path), { force: true })
  }
  return { change: undo && { ...undo, make }, path, isEdited, staying }
}

/** Writes a file as it was read over what its change has made of it, unless another program has changed it since. */
export async function revert(
  { path, bytes }: ConfigFile,
  { after }: ConnectedFile,
  within: string | undefined,
): Promise<void> {
  const now = readConfigFile(path, within)
  if (now.bytes !== null && sumOf(now.bytes) === after) await writeConfigFile(now, bytes, { backup: null, within })
}

function baseOf(file: ConfigFile, within: string | undefined, connected: ConnectedFile | undefined): Base {
  const { path, bytes, text } = file
  if (connected === undefined) return { text, isThere: bytes !== null, isEdited: false, staying: [] }
  if (bytes === null) return { text: '', isThere: false, isEdited: connected.before !== null, staying: [] }
  // Nothing is written yet, or all is undone already.
  if (sumOf(bytes) === connected.before) return { text, isThere: true, isEdited: false, staying: [] }
  if (sumOf(bytes) === connected.after) {
    if (connected.before === null) return { text: '', isThere: false, isEdited: false, staying: [] }
    const backup = existsSync(backupOf(path)) ? readConfigFile(backupOf(path), within) : null
    if (backup?.bytes && sumOf(backup.bytes) === connected.before)
      return { text: backup.text, isThere: true, isEdited: false, staying: [] }
  }
  const { text: left, staying } = undoSettings(
    SETTING_FORMATS[connected.format],
    { file: path, text },
    connected.settings,
  )
  const isEmpty = connected.before === null && /^\s*(\{\s*\})?\s*$/.test(left)
  return { text: left, isThere: !isEmpty, isEdited: true, staying }
}
