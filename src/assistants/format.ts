import { GazewayError } from '../errors.ts'

/** The name of the entry in every assistant's file. */
export const SERVER_NAME = 'gazeway'

/** The text of an assistant's file. */
export interface Source {
  /** Its path, for messages. */
  file: string
  /** Without a byte order mark; empty where there is no file. */
  text: string
  /** The field that holds the servers by name. */
  servers: string
}

/** How an entry is read from, put into and taken out of files of one format. The rest of the text stays byte for byte. */
export interface Format {
  /**
   * The entry of Gazeway; undefined where there is none.
   *
   * @throws GazewayError `config_invalid` for a text that is not valid, `conflict` for one that has the entry twice
   */
  read(source: Source): unknown
  /** Whether the field that holds the servers is there. @throws as `read` */
  hasServers(source: Source): boolean
  /** The text with the entry: added, or in the place of the one that is there. @throws as `read` */
  put(source: Source, entry: Record<string, unknown>): string
  /**
   * The text without the entry.
   *
   * @param emptied whether the field that holds the servers goes, too, where it holds nothing else
   * @throws as `read`
   */
  take(source: Source, emptied: 'kept' | 'taken'): string
}

/** A file that is refused. */
export const invalidFile = (file: string, fault: string): GazewayError =>
  new GazewayError('config_invalid', `${file}: ${fault}. Mend it by hand; nothing was changed.`)

/**
 * What a parser makes of a file.
 *
 * @throws GazewayError `config_invalid` for one that nests deeper than a parser, which calls itself, can follow
 */
export function unnested<T>(file: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw error instanceof RangeError ? invalidFile(file, 'nested too deeply') : error
  }
}
