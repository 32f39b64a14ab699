export async function doctor(_args: readonly string[]): Promise<number> {
  return 0;
}
