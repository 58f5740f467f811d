import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { entitiesOfModuleTree, Owns } from './owned-entities';

class Nest {}
class Egg {}
class Bird {}

@Owns(Nest, Egg)
@Module({})
class NestsModule {}

@Owns(Bird)
@Module({ imports: [NestsModule] })
class BirdsModule {
  static forRoot(): DynamicModule {
    return { module: BirdsModule };
  }
}

test('the entities of a module are its own and those of its imported modules, each once', () => {
  @Module({ imports: [NestsModule, BirdsModule.forRoot()] })
  class Rookery {}
  expect(entitiesOfModuleTree(Rookery)).toEqual([Nest, Egg, Bird]);
  expect(entitiesOfModuleTree(BirdsModule)).toEqual([Bird, Nest, Egg]);
});

test('a module that owns nothing has none', () => {
  @Module({})
  class Empty {}
  expect(entitiesOfModuleTree(Empty)).toEqual([]);
});
