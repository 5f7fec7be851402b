import type { ComponentChildren } from 'preact'
import { count, shortId } from '../format.ts'
import { Button } from './fields.tsx'
import { Money, When } from './inline.tsx'
import type { Column } from './table.tsx'

/** Column of a time. */
export const whenColumn = <Key extends string>(key: Key, label: string): Column<Record<Key, string | null>> => ({
  key,
  label,
  render: (row) => <When at={row[key]} />,
})

/** Column of figures. */
export const figureColumn = <Row,>(label: string, render: (row: Row) => ComponentChildren): Column<Row> => ({
  key: label,
  label,
  align: 'right',
  render,
})

/** Column of an amount in USD. */
export const moneyColumn = <Key extends string>(key: Key, label: string): Column<Record<Key, number | null>> => ({
  ...figureColumn(label, (row) => <Money usd={row[key]} />),
  fold: 'last',
})

/** Column of a count. */
export const countColumn = <Key extends string>(key: Key, label: string) =>
  figureColumn<Record<Key, number>>(label, (row) => count(row[key]))

/** Column of an id in its short form, with the whole id as its title. */
export const idColumn = <Key extends string>(key: Key, label: string): Column<Record<Key, string>> => ({
  key,
  label,
  render: (row) => <code title={row[key]}>{shortId(row[key])}</code>,
})

/**
 * Column of buttons that act on a row.
 *
 * @param actions each with its word, and the preposition before the row's name for screen readers
 * @param isOpen tells whether a row still has its actions
 */
export const actionsColumn = <Row,>(
  label: string,
  nameOf: (row: Row) => string,
  actions: readonly { word: string; before?: string; onAct: (row: NoInfer<Row>) => void }[],
  isOpen: (row: Row) => boolean = () => true,
): Column<Row> => ({
  key: 'actions',
  label,
  fold: 'last',
  render: (row) =>
    isOpen(row) && (
      <div class="actions">
        {actions.map(({ word, before = '', onAct }) => (
          <Button
            key={word}
            size="small"
            label={`${word} ${before}${nameOf(row)}`}
            onClick={() => onAct(row)}
            children={word}
          />
        ))}
      </div>
    ),
})
