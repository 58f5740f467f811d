import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { Bootstrap } from './bootstrap.command';

/** The first administrator of an instance, and their token. */
@Module({ imports: [TokensModule, UsersModule], providers: [Bootstrap] })
export class BootstrapModule {}
