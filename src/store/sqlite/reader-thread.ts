import { workerData } from 'node:worker_threads'
import { answerQuestions } from '../../wire/thread-code.ts'
import { driver } from './driver.ts'
import type { Batch, Question, ReaderData } from './reader-messages.ts'
import { columnsOf, createStatements, toParameter } from './statements.ts'

/** Thread of `readerDialect`. Answers statements in batches of rows. */

/** Limits of a batch, in rows and characters, because receiving a batch blocks the main thread. */
const BATCH_ROWS = 500
const BATCH_CHARACTERS = 512 * 1024
/** Longest wait of a statement for a lock, in milliseconds. */
const BUSY_TIMEOUT_MS = 200

/** Page cache in KiB: long reads return to the same pages. */
const CACHE_KIB = 16 * 1024

const { location, isUrl } = workerData as ReaderData
const database = driver.open(isUrl ? new URL(location) : location, { readOnly: true })
database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}; pragma temp_store = memory; pragma cache_size = -${CACHE_KIB}`)
const prepare = createStatements(database)
let columns: string[] = []
let rest: Iterator<unknown[]> | undefined

function answer(question: Question): Batch {
  if (question === 'more') return nextBatch()
  rest = undefined
  const { statement, takesAll, ...prepared } = prepare(question.sql)
  const parameters = question.parameters.map(toParameter)
  columns = prepared.columns
  if (columns.length === 0) {
    statement.run(...parameters)
    return { columns, rows: [], done: true }
  }
  rest = statement.iterate(...parameters)
  const batch = nextBatch()
  if (takesAll) columns = columnsOf(statement)
  return { ...batch, columns }
}

function nextBatch(): Batch {
  const rows: unknown[][] = []
  for (let characters = 0; rows.length < BATCH_ROWS && characters < BATCH_CHARACTERS; ) {
    const next = rest?.next()
    if (next === undefined || next.done) {
      rest = undefined
      return { columns, rows, done: true }
    }
    rows.push(next.value)
    for (const value of next.value) if (typeof value === 'string') characters += value.length
  }
  return { columns, rows, done: false }
}

answerQuestions(answer, () => database.close())
