import { hashPassword } from './passwords';

describe('a password', () => {
  it('is hashed with a salt of its own, beside the event loop', async () => {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const hashes = await Promise.all(['quack quack', 'quack quack', 'quack quack'].map(hashPassword));
    isOver = true;
    expect(new Set(hashes).size).toBe(3);
    expect(hashes[0]).toMatch(/^scrypt\$[\w-]{22}\$[\w-]{43}$/);
    // Hashing on the loop lets it turn once between two of them at most.
    expect(turns).toBeGreaterThan(10);
  });
});
