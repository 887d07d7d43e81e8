"""all-MiniLM-L6-v2 in this process, without torch: ``weights`` gets and checks the files,
``convert`` builds the ONNX graph once, ``model`` turns texts into vectors."""
