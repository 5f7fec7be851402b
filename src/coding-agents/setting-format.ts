import { SERVER_NAME, type TextFile } from '../assistants/format.ts'
import { type JsonFormat, json, jsonc } from '../assistants/json-format.ts'
import { toml } from '../assistants/toml-format.ts'
import { putRoot, rootValue, takeRoot } from '../assistants/toml-root.ts'
import { GazewayError } from '../errors.ts'
import { isObject } from '../text/json.ts'
import { putVariable, takeVariable, variableIn } from './env-file.ts'
import type { Setting } from './setting.ts'

/** Reads, adds and removes settings in files of one format. The rest of the text is unchanged, byte for byte. */
export interface SettingFormat {
  /**
   * Reads the value at the path; of a list, the item. Undefined when there is none.
   *
   * @throws GazewayError `config_invalid` for an invalid text, `conflict` for a name that occurs twice
   */
  read(file: TextFile, setting: Setting): unknown
  /** Counts the names of the path that exist. @throws as `read` */
  depthOf(file: TextFile, setting: Setting): number
  /** Adds or replaces the value. @throws as `read` */
  put(file: TextFile, setting: Setting): string
  /** Removes the value, and what is empty without it beyond the outermost `kept` names. @throws as `read` */
  take(file: TextFile, setting: Setting, kept: number): string
}

const inJson = (format: JsonFormat): SettingFormat => ({
  read(file, { path, value, isItem }) {
    if (!isItem) return format.valueAt(file, path)
    return format.hasItem(file, path, value) ? value : undefined
  },
  depthOf: (file, { path }) => format.depthOf(file, path),
  put(file, { path, value, isItem }) {
    if (!isItem) return format.putAt(file, path, value)
    refuseRival(file, path, format.valueAt(file, path), value)
    return format.putItem(file, path, value)
  },
  take: (file, { path, value, isItem }, kept) =>
    isItem ? format.takeItem(file, path, value, kept) : format.takeAt(file, path, kept),
})

/** Refuses to add an item to a list that has one of the same id: agents take the first. @throws GazewayError `conflict` */
function refuseRival({ file }: TextFile, path: readonly string[], list: unknown, value: unknown): void {
  const id = isObject(value) ? value.id : undefined
  if (id === undefined || !Array.isArray(list) || !list.some((item) => isObject(item) && item.id === id)) return
  throw new GazewayError(
    'conflict',
    `${file}: ${path.join('.')} has another entry of ${id}. Remove it, or choose another model; nothing was changed.`,
  )
}

/** A path is the name of a value before the first table, or that of a table `[NAME.gazeway]`. */
function inToml(): SettingFormat {
  const isTable = ({ path }: Setting) => path.length === 2 && path[1] === SERVER_NAME
  const sourceOf = (file: TextFile, { path: [servers = ''] }: Setting) => ({ ...file, servers })
  const nameOf = ({ path: [name = ''] }: Setting) => name
  return {
    read: (file, one) => (isTable(one) ? toml.read(sourceOf(file, one)) : rootValue(file, nameOf(one))),
    depthOf: () => 0,
    put: (file, one) =>
      isTable(one)
        ? toml.put(sourceOf(file, one), one.value as Record<string, unknown>)
        : putRoot(file, nameOf(one), one.value),
    take: (file, one) => (isTable(one) ? toml.take(sourceOf(file, one), 'taken') : takeRoot(file, nameOf(one))),
  }
}

function inEnv(): SettingFormat {
  const nameOf = ({ path: [name = ''] }: Setting) => name
  return {
    read: (file, one) => variableIn(file, nameOf(one)),
    depthOf: () => 0,
    put: (file, one) => putVariable(file, nameOf(one), one.value),
    take: (file, one) => takeVariable(file, nameOf(one)),
  }
}

/** Formats of agents' files. */
export const SETTING_FORMATS = { json: inJson(json), jsonc: inJson(jsonc), toml: inToml(), env: inEnv() } as const

export type FormatName = keyof typeof SETTING_FORMATS
