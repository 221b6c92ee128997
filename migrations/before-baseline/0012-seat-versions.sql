-- Each process that shows seat maps takes a number here, once. Its versions carry it, so that those of two processes are never
-- the same. Used again after 4,096 starts: the moment in a version is another one then.
create sequence seat_view_processes as integer minvalue 0 maxvalue 4095 start 0 cycle;
