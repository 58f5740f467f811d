import { hashPassword } from './passwords';

describe('a password hash', () => {
  it('has its own salt, and is computed outside of the event loop', async () => {
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
    // If hashes were computed on the event loop, it could turn at most once between two of them.
    expect(turns).toBeGreaterThan(10);
  });
});
