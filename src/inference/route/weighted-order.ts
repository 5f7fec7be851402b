/** Orders candidates at random by their weights, drawn without replacement. */
export function drawn<T extends { weight: number }>(ways: readonly T[]): T[] {
  const left = [...ways]
  const order: T[] = []
  while (left.length > 0) {
    const total = left.reduce((sum, { weight }) => sum + weight, 0)
    const at = Math.random() * total
    let sum = 0
    const found = left.findIndex(({ weight }) => {
      sum += weight
      return at < sum
    })
    order.push(...left.splice(Math.max(0, found), 1))
  }
  return order
}
