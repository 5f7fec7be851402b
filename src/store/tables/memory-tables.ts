import type { Generated } from 'kysely'

/** Number of the space of a key's own memories. `ends_at`: when the memories of a revoked key are deleted. */
export interface MemorySpaceRow {
  space: Generated<number>
  key_id: string
  ends_at: string | null
}

/**
 * One memory. `value`, `tags` and `also` are JSON. The full-text index reads the `_text` columns. `bytes` and `words`
 * (of the value) count in the totals of its namespace.
 */
export interface MemoryRow {
  seq: Generated<number>
  id: string
  /** 0 is the operator's space. */
  space: number
  project: string | null
  namespace: string
  key: string
  value: string
  tags: string
  also: string
  bytes: number
  words: number
  embedded: string
  version: number
  /** Key that stored this version; null for the tools of this machine. */
  written_by: string | null
  created_at: string
  updated_at: string
  expires_at: string | null
  key_text: string
  value_text: string
  tags_text: string
  also_text: string
}

/**
 * Embedding of a memory: its quantized vector and the sign bits, in base64. `source` identifies the upstream, model,
 * document prefix and length.
 */
export interface MemoryVectorRow {
  place: Generated<number>
  seq: number
  space: number
  source: string
  signs: string
  vector: string
}

/** An earlier version of a memory. `superseded_by` is the key of the memory that superseded it. */
export interface MemoryVersionRow
  extends Pick<
    MemoryRow,
    | 'space'
    | 'namespace'
    | 'key'
    | 'version'
    | 'id'
    | 'project'
    | 'value'
    | 'tags'
    | 'also'
    | 'written_by'
    | 'created_at'
    | 'updated_at'
    | 'expires_at'
  > {
  superseded_by: string | null
}

/** One tag of one memory, with the columns that lists of a tag are sorted and filtered by. */
export interface MemoryTagRow {
  seq: number
  tag: string
  space: number
  namespace: string
  updated_at: string
}

/**
 * Part of a namespace's totals: its memories (also expired ones not yet swept), their bytes, and the words of their
 * values. The rows of a namespace are summed; a single row may be negative.
 */
export interface MemoryTotalsRow {
  space: number
  namespace: string
  shard: number
  memories: number
  bytes: number
  words: number
}

/** A word of a space, and the number of memories that hold it. `ending` is the word backwards, or empty. */
export interface MemoryWordRow {
  space: number
  word: string
  stem: string
  ending: string
  memories: number
}

export interface MemoryTables {
  memory_spaces: MemorySpaceRow
  memories: MemoryRow
  memory_versions: MemoryVersionRow
  memory_vectors: MemoryVectorRow
  memory_tags: MemoryTagRow
  memory_totals: MemoryTotalsRow
  memory_words: MemoryWordRow
}
