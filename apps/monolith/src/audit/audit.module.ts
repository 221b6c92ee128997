import { useCase } from '#platform/use-case';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditController } from './audit.controller.ts';
import { PostgresAuditLog } from './postgres-audit-log.ts';

/** The audit log, for operators with the role `ops`. */
@Module({ controllers: [AuditController], providers: [useCase(PostgresAuditLog, DataSource)] })
export class AuditModule {}
