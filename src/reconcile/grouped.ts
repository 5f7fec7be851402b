/** Groups items by a value of theirs, in the order in which the values first occur. */
export function grouped<Item, Value>(items: readonly Item[], by: (item: Item) => Value): Map<Value, Item[]> {
  const groups = new Map<Value, Item[]>()
  for (const item of items) {
    const value = by(item)
    const group = groups.get(value)
    if (group === undefined) groups.set(value, [item])
    else group.push(item)
  }
  return groups
}
